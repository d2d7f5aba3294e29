import { Hono, type Context } from "hono";
import type { Host } from "../../engine/ports.ts";
import type { Variables } from "../authenticate.ts";
import { streamSession } from "../stream-route.ts";
import { deleteSession, exportSession, listSessions } from "./archive.ts";
import { cancelTurn, controlHistory, resetSession, retryTurn } from "./control-session.ts";
import { createSession } from "./create-session.ts";
import { forkSession } from "./fork-session.ts";
import { sendMessage } from "./send-message.ts";
import { listTasks } from "./task-list.ts";

export interface SessionRoutes {
  readonly host: Host;
  readonly agentName: string;
  /** How long a reader that takes leases is served at a time. */
  readonly leaseMs?: number | undefined;
  /** Throws when this member may not post to a URL. */
  readonly checkCallback: (url: string) => void;
}

export type RouteContext = Context<{ Variables: Variables }>;

/** What a caller can do with its sessions (PROTOCOL, Routes). */
export function createSessionRoutes(options: SessionRoutes): Hono<{ Variables: Variables }> {
  const { host } = options;
  const routes = new Hono<{ Variables: Variables }>();
  routes.post("/", (c) => createSession(c, options));
  routes.post("/:id", (c) => sendMessage(c, options));
  routes.post("/:id/cancel", (c) => cancelTurn(c, host));
  routes.post("/:id/compact", (c) => controlHistory(c, host, "compact"));
  routes.post("/:id/clear", (c) => controlHistory(c, host, "clear"));
  routes.post("/:id/reset", (c) => resetSession(c, host));
  routes.post("/:id/retry", (c) => retryTurn(c, host));
  routes.post("/:id/fork", (c) => forkSession(c, host));
  routes.get("/:id/tasks", (c) => listTasks(c, host));
  routes.get("/:id/export", (c) => exportSession(c, host));
  routes.get("/:id/stream", (c) => streamSession(c, options));
  routes.delete("/:id", (c) => deleteSession(c, host));
  routes.get("/", (c) => listSessions(c, host));
  return routes;
}
