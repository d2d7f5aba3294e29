/** The candidate that needs the fewest edits to become `name`; `undefined` when there is none. */
export function closest(name: string, candidates: readonly string[]): string | undefined {
  let best: { candidate: string; distance: number } | undefined;
  for (const candidate of candidates) {
    const distance = editDistance(name, candidate);
    if (best === undefined || distance < best.distance) best = { candidate, distance };
  }
  return best?.candidate;
}

/** The closest candidate, if it is so close that `name` may be a slip of the hand: one edit for every three letters. */
export function near(name: string, candidates: readonly string[]): string | undefined {
  const candidate = closest(name, candidates);
  return candidate !== undefined && editDistance(name, candidate) <= name.length / 3 ? candidate : undefined;
}

/** Levenshtein: insertions, deletions and substitutions, one row at a time. */
function editDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const substitution = row[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(row[j]! + 1, next[j - 1]! + 1, substitution));
    }
    row = next;
  }
  return row[b.length]!;
}
