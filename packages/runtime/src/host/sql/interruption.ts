import { advance } from "../../engine/advance.ts";
import { decide, type Effect } from "../../engine/decide.ts";
import type { Advance, Surroundings } from "../../engine/input.ts";
import type { SessionState } from "../../engine/state.ts";

/**
 * What it makes of a session that an earlier process ended while these effects were wanted: one advance for all of
 * them, so that a crash in the middle does not make some count twice.
 */
export function interrupt(before: SessionState, effectIds: Iterable<string>, around: Surroundings): Advance {
  let whole: Advance = { entries: [], posts: [], state: before };
  for (const effectId of effectIds) {
    const { entries, posts, state } = advance(whole.state, { kind: "effect.interrupted", effectId }, around);
    whole = { entries: [...whole.entries, ...entries], posts: [...whole.posts, ...posts], state };
  }
  return whole;
}

/**
 * Effects that a clean stop leaves as if they had never been interrupted: those that were not started yet, and tools
 * that may run again. A model call says itself that it is repeated.
 */
export function stoppedInOrder(state: SessionState, isStarted: (effectId: string) => boolean): string[] {
  return decide(state).flatMap((effect) => {
    const harmless = !isStarted(effect.id) || (effect.kind === "tool" && !isIrreversible(effect));
    return harmless ? [effect.id] : [];
  });
}

/** Nobody knows what it has done when it is interrupted (§21). */
export function isIrreversible(effect: Effect): boolean {
  return effect.kind === "tool" && effect.call.onInterrupt === "fail";
}
