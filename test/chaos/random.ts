/** Numbers that only depend on a seed. */
export interface Random {
  /** A whole number from `low` to `high`, both included. */
  between(low: number, high: number): number;
  /** True in `percent` of 100 cases. */
  chance(percent: number): boolean;
  pick<T>(items: readonly T[]): T;
  /** Numbers of their own for a part of the run, so that the timing of one part moves no other's. */
  fork(part: string): Random;
}

/** Mulberry32, seeded with a hash of the name: small, and good enough to choose with. */
export function createRandom(seed: number, part = ""): Random {
  let state = hash(`${seed}/${part}`);
  const next = (): number => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 0x1_0000_0000;
  };
  const between = (low: number, high: number): number => low + Math.floor(next() * (high - low + 1));
  return {
    between,
    chance: (percent) => next() * 100 < percent,
    pick: (items) => items[between(0, items.length - 1)]!,
    fork: (name) => createRandom(seed, `${part}/${name}`),
  };
}

/** FNV-1a */
function hash(text: string): number {
  let value = 0x811c9dc5;
  for (const character of text) value = Math.imul(value ^ character.codePointAt(0)!, 0x01000193);
  return value | 0;
}
