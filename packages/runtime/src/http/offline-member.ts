import { join } from "node:path";
import { Hono } from "hono";
import { AgentError, messageOf } from "../errors.ts";
import { lockStore } from "../host/sql/lock.ts";
import { createOfflineHost } from "../host/sql/offline-host.ts";
import { openSqliteStore } from "../host/sql/sqlite.ts";
import { OPERATOR, type Variables } from "./authenticate.ts";
import { toInternalProblem, toProblem } from "./problem.ts";
import { deleteSession } from "./session/archive.ts";
import { retryTurn } from "./session/control-session.ts";
import { forkSession } from "./session/fork-session.ts";
import { newUlid } from "./unique-id.ts";

/** A member that does not run, as its operator may use it. */
export interface OfflineMember {
  /** Answers the routes below `/session/` that a running member answers its operator. */
  fetch(request: Request): Promise<Response>;
  close(): Promise<void>;
}

/**
 * Opens the store of a member as its only owner. What is asked of it is done by the same code as in the running
 * member; turns begin when that starts.
 *
 * @throws AgentError `STORE_LOCKED` when the member runs, `STORE_UNUSABLE`, `STORE_FULL`.
 */
export function openOfflineMember(storeFolder: string, log: (line: string) => void): OfflineMember {
  // Who runs is asked instead, so there is nothing to wait for.
  const { release } = lockStore(join(storeFolder, "store.lock"), 0);
  try {
    const host = createOfflineHost({
      store: openSqliteStore(join(storeFolder, "store.db")),
      newSessionId: () => `ses_${newUlid()}`,
      newEventId: () => `evt_${newUlid()}`,
      now: Date.now,
      onError: (error) => log(messageOf(error)),
    });
    const app = new Hono<{ Variables: Variables }>();
    app.use("*", (c, next) => {
      c.set("principal", OPERATOR);
      return next();
    });
    app.delete("/session/:id", (c) => deleteSession(c, host));
    app.post("/session/:id/retry", (c) => retryTurn(c, host));
    app.post("/session/:id/fork", (c) => forkSession(c, host));
    app.onError((error, c) => {
      if (AgentError.is(error)) return toProblem(c, error);
      log(messageOf(error));
      return toInternalProblem(c);
    });
    return {
      fetch: async (request) => app.fetch(request),
      close: async () => {
        await host.close();
        release();
      },
    };
  } catch (error) {
    release();
    throw error;
  }
}
