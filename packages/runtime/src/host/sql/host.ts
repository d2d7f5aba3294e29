import { EventEmitter } from "node:events";
import type { FaultPoint, Host, Perform } from "../../engine/ports.ts";
import { createActor, type Actor, type ActorOptions } from "./actor.ts";
import type { Store } from "./store.ts";

/** Idle sessions kept in memory; any other is folded again from its log when it is needed. */
const MAX_IDLE_ACTORS = 500;

export interface SqlHostOptions {
  readonly store: Store;
  readonly perform: Perform;
  readonly surroundings: ActorOptions["surroundings"];
  readonly newSessionId: () => string;
  readonly newEventId: () => string;
  readonly now: () => number;
  /** Told of what must not happen: a bug in a performer, a store that refuses a write. */
  readonly onError: (error: unknown, sessionId: string) => void;
  readonly fault?: (point: FaultPoint) => void;
  /** Milliseconds before what threw is tried again; default 1000. */
  readonly retryMs?: number;
}

/** A host on SQL tables: one actor per session in memory, everything it decides in the store. */
export function createSqlHost(options: SqlHostOptions): Host {
  const { store } = options;
  const changes = new EventEmitter().setMaxListeners(0);
  const actors = new Map<string, Actor>();
  let closed = false;

  const actorOf = (sessionId: string): Actor => {
    const known = actors.get(sessionId);
    // Moved to the end: the map's order is the order of use.
    if (known !== undefined) actors.delete(sessionId);
    const actor = known ?? createActor(sessionId, { ...options, wake, changed: (id) => void changes.emit(id) });
    actors.set(sessionId, actor);
    return actor;
  };
  const wake = (sessionId: string): void => {
    if (closed) return;
    actorOf(sessionId).wake();
    evictIdle(actors);
  };

  return {
    start: async () => {
      for (const sessionId of await store.active()) wake(sessionId);
    },
    open: async ({ operationKey, digest, input }) => {
      options.fault?.("commit:before");
      const opened = await store.create({
        sessionId: options.newSessionId(),
        nodeId: input.nodeId,
        owner: input.initiator,
        ...(operationKey === undefined ? {} : { operationKey }),
        ...(digest === undefined ? {} : { digest }),
        input,
      });
      options.fault?.("commit:after");
      if (opened.created) wake(opened.sessionId);
      return opened;
    },
    deliver: async (sessionId, id, input, digest) => {
      options.fault?.("commit:before");
      const outcome = await store.accept(sessionId, id, input, digest);
      options.fault?.("commit:after");
      if (outcome === "accepted") wake(sessionId);
      return outcome;
    },
    delivered: async (sessionId, id) => store.knows(sessionId, id),
    head: async (sessionId) => store.head(sessionId),
    state: async (sessionId) => ((await store.head(sessionId)) === undefined ? undefined : actorOf(sessionId).state()),
    events: async (sessionId, from, limit, maxLength) => store.events(sessionId, from, limit, maxLength),
    subscribe: (sessionId, listener) => {
      changes.on(sessionId, listener);
      return () => void changes.off(sessionId, listener);
    },
    close: async () => {
      closed = true;
      await Promise.all([...actors.values()].map((actor) => actor.stop()));
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
