import { deadline } from "../../engine/deadline.ts";
import { decide } from "../../engine/decide.ts";
import type { Entry } from "../../engine/entry.ts";
import type { Post } from "../../engine/input.ts";
import type { FaultPoint } from "../../engine/ports.ts";
import type { SessionState } from "../../engine/state.ts";
import { fold, isSnapshotDue, type Tail } from "./fold.ts";
import type { Commit, Store, Written } from "./store.ts";

export interface RecordOptions {
  readonly store: Store;
  readonly newEventId: () => string;
  readonly now: () => number;
  readonly fault?: (point: FaultPoint) => void;
  readonly wake: (sessionId: string) => void;
  readonly changed: (sessionId: string) => void;
  /** Told what the store holds, after every load and commit. */
  readonly stored: (
    state: SessionState,
    stored: { readonly due: number | undefined; readonly active: boolean },
  ) => void;
}

export interface WriteOptions {
  readonly posts?: readonly Post[];
  readonly taken?: number;
  readonly resumed?: boolean;
}

/** What the store holds of one session, as far as it is in memory; the one writer of its log. */
export interface SessionRecord {
  readonly state: SessionState | undefined;
  readonly version: number;
  readonly isLoaded: boolean;
  /** Folds the log. `undefined` when the session is not in the store; else the effects that a clean stop left. */
  load(): Promise<readonly string[] | undefined>;
  /** Appends entries, and takes over the state that they make. */
  write(entries: readonly Entry[], next: SessionState | undefined, options?: WriteOptions): Promise<void>;
  /** Makes the store's time for the session what it wants: it was told, and is not to be told again before. */
  correctDue(): Promise<void>;
  /** Drops what is in memory; the store has it all. */
  forget(): void;
}

export function createSessionRecord(sessionId: string, options: RecordOptions): SessionRecord {
  const { store } = options;
  let state: SessionState | undefined;
  let version = -1;
  let tail: Tail = { snapshotLength: 0, length: 0 };
  /** As it is in the store. */
  let due: number | undefined;

  const commit = async (
    entries: readonly Entry[],
    next: SessionState | undefined,
    newDue: number | null | undefined,
    { posts = [], taken, resumed = false }: WriteOptions,
  ): Promise<void> => {
    const effects = next === undefined ? [] : decide(next);
    const active = effects.length > 0;
    const keep = next !== undefined && entries.length > 0 && isSnapshotDue(tail, next);
    const written = await attempt({
      sessionId,
      version,
      at: options.now(),
      entries: entries.map((entry) => (entry.public ? { entry, id: options.newEventId() } : { entry })),
      ...(taken === undefined ? {} : { taken }),
      posts,
      active,
      working: next?.turn !== undefined || effects.some(({ kind }) => kind !== "outgoing"),
      ended: next?.ended ?? false,
      ...(newDue === undefined ? {} : { due: newDue }),
      resumed,
      ...(keep ? { snapshot: next } : {}),
    });
    state = next;
    version += entries.length;
    tail = keep
      ? { snapshotLength: written.snapshotLength ?? 0, length: 0 }
      : { ...tail, length: tail.length + written.length };
    if (newDue !== undefined) due = newDue ?? undefined;
    if (next !== undefined) options.stored(next, { due, active });
  };

  /** What fails may have been written all the same, so whoever it concerns looks in any case. */
  const attempt = async (commit: Commit): Promise<Written> => {
    try {
      options.fault?.("commit:before");
      const written = await store.commit(commit);
      options.fault?.("commit:after");
      return written;
    } finally {
      if (commit.entries.some(({ id }) => id !== undefined)) options.changed(sessionId);
      for (const post of commit.posts) options.wake(post.sessionId);
    }
  };

  /** What a turn under way puts off stays as it was: to write it twice a turn costs more than to be told in vain. */
  const dueAfter = (next: SessionState | undefined): number | null | undefined => {
    const exact = next && deadline(next);
    if (exact === due) return undefined;
    return exact ?? (next?.ended ? null : undefined);
  };

  return {
    get state() {
      return state;
    },
    get version() {
      return version;
    },
    get isLoaded() {
      return version >= 0;
    },
    load: async () => {
      const log = await store.load(sessionId);
      if (log === undefined) return undefined;
      state = fold(log);
      ({ version, due } = log);
      tail = log;
      if (state !== undefined) options.stored(state, { due, active: decide(state).length > 0 });
      return log.stopped;
    },
    write: (entries, next, given = {}) => commit(entries, next, dueAfter(next), given),
    correctDue: async () => {
      const exact = state && deadline(state);
      if (exact !== due) await commit([], state, exact ?? null, {});
    },
    forget: () => {
      state = undefined;
      version = -1;
    },
  };
}
