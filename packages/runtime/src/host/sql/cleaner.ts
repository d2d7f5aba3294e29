import { setTimeout as delay } from "node:timers/promises";
import type { Store } from "./store.ts";

/** Sessions that are taken out of use in one transaction. */
const SESSIONS = 20;
/** Between two steps, so that cleaning takes a part of the time and no more. */
const PAUSE_MS = 10;
/** Longer than anything that the end of a session sends to others is tried. */
const REMOVAL_PATIENCE_MS = 900_000;
/** Until sessions are looked at again that could not be cleaned yet. */
const LATER_MS = 60_000;

export interface CleanerOptions {
  readonly store: Store;
  readonly now: () => number;
  /** How long an ended session can be read; `Infinity`: for ever. */
  readonly retentionMs: number;
  /**
   * The session is deleted from now on; nothing may work for it. Told when it is taken out of use, and again when its
   * last row is deleted: that one alone reaches what came with its root, and what a crash left.
   */
  readonly gone: (sessionId: string) => void;
  readonly onError: (error: unknown) => void;
}

/** Deletes what was removed, and what ended long enough ago, a few rows at a time. */
export interface Cleaner {
  /** Cleans until there is nothing left to do at the moment. Returns when to look again, if ever. */
  run(): Promise<number | undefined>;
  /** A session has ended: one that was removed may have waited for that. */
  ended(): void;
  stop(): Promise<void>;
}

export function createCleaner({ store, now, retentionMs, gone, onError }: CleanerOptions): Cleaner {
  const stopping = new AbortController();
  const isStopped = (): boolean => stopping.signal.aborted;
  /** Also ends when it is stopped, at once: whoever stops it waits. */
  const pause = (): Promise<unknown> => delay(PAUSE_MS, undefined, { signal: stopping.signal }).catch(() => {});
  let removalsWait = false;
  let running: Promise<number | undefined> | undefined;
  let again = false;

  const clean = async (): Promise<number | undefined> => {
    for (;;) {
      again = false;
      removalsWait = await endRemovals();
      const expired = await expire();
      while (!isStopped() && (await cleanStep())) await pause();
      while (!isStopped() && (await store.shrink())) await pause();
      if (isStopped()) return undefined;
      if (!expired && !again) return nextLook();
    }
  };

  const cleanStep = async (): Promise<boolean> => {
    const { removed, more } = await store.clean();
    if (removed !== undefined) gone(removed);
    return more;
  };

  const endRemovals = async (): Promise<boolean> => {
    for (;;) {
      const { sessionIds, more, left } = await store.endRemovals(now() - REMOVAL_PATIENCE_MS, SESSIONS);
      sessionIds.forEach(gone);
      if (!more) return left;
    }
  };

  const expire = async (): Promise<boolean> => {
    if (retentionMs === Infinity) return false;
    const sessionIds = await store.expire(now() - retentionMs, SESSIONS);
    sessionIds.forEach(gone);
    return sessionIds.length > 0;
  };

  const nextLook = async (): Promise<number | undefined> => {
    const end = retentionMs === Infinity ? undefined : await store.earliestEnd();
    const later = now() + LATER_MS;
    // One that is due and was not swept waits for what its descendants have to do.
    const next = end === undefined ? Infinity : end + retentionMs <= now() ? later : end + retentionMs;
    const at = Math.min(next, removalsWait ? later : Infinity);
    return at === Infinity ? undefined : at;
  };

  const run = (): Promise<number | undefined> => {
    again = true;
    running ??= clean().finally(() => (running = undefined));
    return running;
  };

  return {
    run,
    ended: () => {
      if (removalsWait && !isStopped()) run().catch(onError);
    },
    stop: async () => {
      stopping.abort();
      await running?.catch(() => {});
    },
  };
}
