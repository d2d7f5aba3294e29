import type { SessionState } from "./state.ts";

/**
 * When a session wants to be told that time has passed, in milliseconds since the epoch; `undefined`: never. A turn
 * under way is not cut short: the session looks at the time when it ends. What the turn itself waits for is its own time.
 */
export function deadline({ ended, turn, compaction, expiresAt }: SessionState): number | undefined {
  if (ended || compaction !== undefined) return undefined;
  if (turn === undefined) return expiresAt;
  const times = turn.waits.flatMap(({ until }) => until ?? []);
  return times.length === 0 ? undefined : Math.min(...times);
}
