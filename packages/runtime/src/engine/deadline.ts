import type { SessionState } from "./state.ts";

/**
 * When a session wants to be told that time has passed, in milliseconds since the epoch; `undefined`: never. A turn
 * under way is not cut short: the session looks at the time when it ends.
 */
export function deadline({ ended, turn, compaction, expiresAt }: SessionState): number | undefined {
  return ended || turn !== undefined || compaction !== undefined ? undefined : expiresAt;
}
