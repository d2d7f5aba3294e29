import type { Host, Perform } from "../../engine/ports.ts";
import { VERSION } from "../../version.ts";
import { createActor, type ActorOptions } from "./actor.ts";
import { createCleaner } from "./cleaner.ts";
import { fold } from "./fold.ts";
import type { Store } from "./store.ts";

export interface OfflineHostOptions {
  readonly store: Store;
  readonly newSessionId: () => string;
  readonly newEventId: () => string;
  readonly now: () => number;
  /** Told of what keeps a removed session from being ended here: the member does it then. */
  readonly onError: (error: unknown) => void;
}

/**
 * The host of a member that does not run. What it accepts is in the store as if the member had been killed right
 * after: its work begins when the member starts. Only what is removed is ended and deleted here, except for a
 * session that has yet to tell other deployments so.
 */
export function createOfflineHost(options: OfflineHostOptions): Host {
  const { store, now, onError } = options;
  const cleaner = createCleaner({ store, now, retentionMs: Infinity, gone: () => {}, onError });
  return {
    start: async () => {},
    open: async ({ operationKey, digest, input }) =>
      store.create({
        sessionId: options.newSessionId(),
        at: now(),
        ...(operationKey === undefined ? {} : { operationKey }),
        ...(digest === undefined ? {} : { digest }),
        input,
      }),
    deliver: async (sessionId, id, input, digest) => store.accept(sessionId, id, input, digest),
    delivered: async (sessionId, id) => store.knows(sessionId, id),
    head: async (sessionId) => store.head(sessionId),
    list: async (request) => store.list(request),
    descendants: async (sessionId) => store.descendants(sessionId),
    state: async (sessionId) => {
      const log = await store.load(sessionId);
      return log && fold(log);
    },
    stateAt: async (sessionId, index) => {
      const log = await store.load(sessionId, index);
      return log && fold(log);
    },
    events: async (sessionId, from, limit, maxLength) => store.events(sessionId, from, limit, maxLength),
    subscribe: () => () => {},
    remove: async (sessionId) => {
      const below = await store.descendants(sessionId);
      const outcome = await store.remove(sessionId, now());
      if (outcome !== "removed") return outcome;
      await endAll([sessionId, ...below], options);
      // Neither an actor nor the cleaner keeps a process alive.
      const alive = setInterval(() => {}, 1_000);
      await cleaner.run().finally(() => clearInterval(alive));
      return outcome;
    },
    close: async () => {
      await cleaner.stop();
      await store.close();
    },
  };
}

/** Has sessions read their mail, and what that sends to others of them, the first ones first. */
async function endAll(sessionIds: readonly string[], options: OfflineHostOptions): Promise<void> {
  const unread = new Set(sessionIds);
  for (const id of unread) {
    unread.delete(id);
    // Added anew, it comes again.
    await readMail(id, (other) => void unread.add(other), options);
  }
}

/** Runs nothing of what the mail asks for. */
async function readMail(
  sessionId: string,
  wake: (sessionId: string) => void,
  { store, newSessionId, newEventId, now, onError }: OfflineHostOptions,
): Promise<void> {
  const surroundings: ActorOptions["surroundings"] = () => ({
    sessionId,
    modelId: "unavailable",
    eveVersion: VERSION,
    base: "",
    newSessionId,
    random: (length) => "0".repeat(length),
  });
  const actor = createActor(sessionId, {
    store,
    perform: waiting,
    surroundings,
    newEventId,
    now,
    wake,
    changed: () => {},
    stored: () => {},
    onError,
  });
  await actor.wake();
  await actor.stop(Promise.resolve());
}

const waiting: Perform = (_, { signal }) =>
  new Promise((resolve) => signal.addEventListener("abort", () => resolve(undefined), { once: true }));
