import { closeSync, existsSync, openSync, readSync } from "node:fs";
import type { Effect, MemberName } from "../history.ts";

/** The record of effects that a member writes. */
export interface EffectRecord {
  /** All lines so far. */
  effects(): readonly Effect[];
}

/** Follows the file of a member's record; what was read once is not read again. */
export function readRecord(path: string, member: MemberName): EffectRecord {
  const effects: Effect[] = [];
  const buffer = Buffer.alloc(64 * 1024);
  let offset = 0;
  let rest = "";
  return {
    effects: () => {
      if (!existsSync(path)) return effects;
      const file = openSync(path, "r");
      try {
        for (let length; (length = readSync(file, buffer, 0, buffer.length, offset)) > 0; offset += length) {
          const lines = (rest + buffer.toString("utf8", 0, length)).split("\n");
          rest = lines.pop()!;
          for (const line of lines) effects.push({ member, ...(JSON.parse(line) as Omit<Effect, "member">) });
        }
      } finally {
        closeSync(file);
      }
      return effects;
    },
  };
}

/** Effects of a process that have begun and not ended. */
export function openEffects(effects: readonly Effect[], pid: number): string[] {
  const open = new Map<string, number>();
  for (const { kind, key, pid: owner } of effects) {
    if (owner !== pid) continue;
    const [begun, ended] = kind.split(".");
    const name = `${begun} ${key}`;
    open.set(name, (open.get(name) ?? 0) + (ended === undefined ? 1 : -1));
  }
  return [...open].flatMap(([name, count]) => (count > 0 ? [name] : []));
}
