import { EventEmitter } from "node:events";
import { setTimeout as delay } from "node:timers/promises";
import type { FaultPoint, Host, Perform } from "../../engine/ports.ts";
import { createActor, type Actor, type ActorOptions } from "./actor.ts";
import { createAlarm, schedule, type Schedule } from "./alarm.ts";
import { createCleaner } from "./cleaner.ts";
import { createComplaints } from "./complaints.ts";
import { fold } from "./fold.ts";
import { forEachSession, type ReadPage } from "./resume.ts";
import type { DuePosition, Store } from "./store.ts";
import { isStoreProblem } from "./unusable.ts";

/** Idle sessions kept in memory; any other is folded again from its log when it is needed. */
const MAX_IDLE_ACTORS = 500;
/** Until a session is told again that its time has come, when nothing came of it. */
const TELL_AGAIN_MS = 60_000;
/** Until a store is asked again that could not say what there is to do. */
const AFTER_FAILURE_MS = 5_000;

export interface SqlHostOptions {
  readonly store: Store;
  readonly perform: Perform;
  readonly surroundings: ActorOptions["surroundings"];
  readonly newSessionId: () => string;
  readonly newEventId: () => string;
  readonly now: () => number;
  /** Told of what must not happen: a bug in a performer, a store that refuses a write. Not more than once a minute of the same. */
  readonly onError: (error: unknown, sessionId: string | undefined) => void;
  readonly fault?: (point: FaultPoint) => void;
  /** A session and what it kept elsewhere are to be there no more. */
  readonly gone?: (sessionId: string) => void;
  /** Milliseconds before what threw is tried again, for the first time; default 1000. */
  readonly retryMs?: number;
  /** Milliseconds that an ended session can be read; default: for ever. */
  readonly retentionMs?: number;
  /** A timer; default: the process's. */
  readonly schedule?: Schedule;
}

/** A host on SQL tables: one actor per session in memory, everything it decides in the store. */
export function createSqlHost(options: SqlHostOptions): Host {
  const { store, now, retentionMs = Infinity } = options;
  const changes = new EventEmitter().setMaxListeners(0);
  const actors = new Map<string, Actor>();
  const complain = createComplaints(options.onError, now);
  let resumed = false;
  let closed = false;

  const actorOf = (sessionId: string): Actor => {
    const known = actors.get(sessionId);
    // Moved to the end: the map's order is the order of use.
    if (known !== undefined) actors.delete(sessionId);
    const actor = known ?? createActor(sessionId, actorOptions);
    actors.set(sessionId, actor);
    return actor;
  };
  const changed = (sessionId: string): void => void changes.emit(sessionId);
  const awake = (sessionId: string, how: "wake" | "tell"): Promise<void> => {
    if (closed) return Promise.resolve();
    const done = actorOf(sessionId)[how]();
    evictIdle(actors);
    return done;
  };
  const wake = (sessionId: string): void => void awake(sessionId, "wake");

  const cleaner = createCleaner({
    store,
    now,
    retentionMs,
    gone: (sessionId) => {
      actors.get(sessionId)?.drop();
      actors.delete(sessionId);
      changed(sessionId);
      options.gone?.(sessionId);
    },
    onError: (error) => complain(error, undefined),
  });
  const alarm = createAlarm({ now, schedule: options.schedule ?? schedule, ring: () => ring() });

  let ringing: Promise<void> | undefined;
  let rangAgain = false;
  /** What the time asks for, once at a time: the first time it is everything that an earlier process left. */
  const ring = (): void => {
    rangAgain = ringing !== undefined;
    clean();
    ringing ??= tellSessions()
      .catch(afterFailure)
      .finally(() => {
        ringing = undefined;
        if (rangAgain && !closed) ring();
      });
  };
  const tellSessions = async (): Promise<void> => {
    const time = now();
    if (!resumed) {
      const readActive: ReadPage<number> = async (after, limit) => store.active(after, limit);
      await forEachSession(readActive, (sessionId) => awake(sessionId, "wake"), isClosed);
    }
    resumed = true;
    const readDue: ReadPage<DuePosition> = async (after, limit) => store.due(time, after, limit);
    await forEachSession(readDue, (sessionId) => awake(sessionId, "tell"), isClosed);
    if (closed) return;
    // Those of `time` that are still due were told, and nothing came of it.
    const { at, overdue } = await store.nextDue(time);
    if (at !== undefined) alarm.set(at);
    if (overdue) alarm.set(time + TELL_AGAIN_MS);
  };
  /** Not waited for: to delete much takes long. */
  const clean = (): void => {
    if (closed) return;
    cleaner.run().then((look) => look !== undefined && alarm.set(look), afterFailure);
  };
  const afterFailure = (error: unknown): void => {
    if (closed) return;
    complain(error, undefined);
    alarm.set(now() + AFTER_FAILURE_MS);
  };
  const isClosed = (): boolean => closed;

  const actorOptions: ActorOptions = {
    ...options,
    onError: complain,
    wake,
    changed,
    stored: ({ ended, origin }, { due, active }) => {
      if (due !== undefined) alarm.set(due);
      if (!ended || active) return;
      cleaner.ended();
      if (origin.kind !== "local") alarm.set(now() + retentionMs);
    },
  };

  /** Says in the log why a request was refused, too. */
  const written = async <T>(body: () => T | Promise<T>): Promise<T> => {
    options.fault?.("commit:before");
    try {
      const result = await body();
      options.fault?.("commit:after");
      return result;
    } catch (error) {
      if (isStoreProblem(error)) complain(error, undefined);
      throw error;
    }
  };

  return {
    start: async () => ring(),
    open: async ({ operationKey, digest, input }) => {
      const opened = await written(() =>
        store.create({
          sessionId: options.newSessionId(),
          at: now(),
          ...(operationKey === undefined ? {} : { operationKey }),
          ...(digest === undefined ? {} : { digest }),
          input,
        }),
      );
      // Also when it is there already: whoever asked before may not have got so far.
      if (!opened.conflict) wake(opened.sessionId);
      return opened;
    },
    deliver: async (sessionId, id, input, digest) => {
      const outcome = await written(() => store.accept(sessionId, id, input, digest));
      if (outcome === "accepted" || outcome === "duplicate") wake(sessionId);
      return outcome;
    },
    delivered: async (sessionId, id) => store.knows(sessionId, id),
    head: async (sessionId) => store.head(sessionId),
    list: async (request) => store.list(request),
    descendants: async (sessionId) => store.descendants(sessionId),
    state: async (sessionId) => {
      const head = await store.head(sessionId);
      return head === undefined || head.swept ? undefined : actorOf(sessionId).state();
    },
    stateAt: async (sessionId, index) => {
      const head = await store.head(sessionId);
      const log = head === undefined || head.swept ? undefined : await store.load(sessionId, index);
      return log && fold(log);
    },
    events: async (sessionId, from, limit, maxLength) => store.events(sessionId, from, limit, maxLength),
    subscribe: (sessionId, listener) => {
      changes.on(sessionId, listener);
      return () => void changes.off(sessionId, listener);
    },
    remove: async (sessionId) => {
      const below = await store.descendants(sessionId);
      const outcome = await written(() => store.remove(sessionId, now()));
      if (outcome !== "removed") return outcome;
      for (const id of [sessionId, ...below]) changed(id);
      await awake(sessionId, "wake");
      clean();
      return outcome;
    },
    close: async (graceMs = 0) => {
      closed = true;
      alarm.stop();
      await Promise.all([ringing, cleaner.stop()]);
      const enough = new AbortController();
      const grace = delay(graceMs, undefined, { signal: enough.signal }).catch(() => {});
      await Promise.all([...actors.values()].map((actor) => actor.stop(grace)));
      enough.abort();
      await store.close();
    },
  };
}

function evictIdle(actors: Map<string, Actor>): void {
  if (actors.size <= MAX_IDLE_ACTORS) return;
  for (const [sessionId, actor] of actors) {
    if (!actor.idle()) continue;
    actors.delete(sessionId);
    if (actors.size <= MAX_IDLE_ACTORS) return;
  }
}
