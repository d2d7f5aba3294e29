import { reduce } from "../../engine/reduce.ts";
import type { SessionState } from "../../engine/state.ts";
import type { SessionLog } from "./store.ts";

/** A log shorter than this is folded as fast as a snapshot is read. */
const SHORTEST = 16 * 1024;
/** A snapshot is written again when the log since the last one is this part of its length: the cost stays in proportion. */
const SHARE = 1 / 4;
/** A turn that goes on for very long does not keep a snapshot from being written. */
const PATIENCE = 8;

/** The state that a log says. */
export function fold({ snapshot, entries }: Pick<SessionLog, "snapshot" | "entries">): SessionState | undefined {
  return entries.reduce<SessionState | undefined>(reduce, snapshot);
}

/** What is to be folded on a cold start: characters of the last snapshot, and of the log since. */
export interface Tail {
  readonly snapshotLength: number;
  readonly length: number;
}

/** Whether a snapshot is worth writing: rather between two turns, where the state is smallest. */
export function isSnapshotDue({ snapshotLength, length }: Tail, { turn }: Pick<SessionState, "turn">): boolean {
  const enough = Math.max(SHORTEST, snapshotLength * SHARE);
  return length >= (turn === undefined ? enough : enough * PATIENCE);
}
