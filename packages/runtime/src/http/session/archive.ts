import type { Host, SessionHead } from "../../engine/ports.ts";
import { AgentError } from "../../errors.ts";
import { owns } from "../authenticate.ts";
import { createExportStream } from "./export-stream.ts";
import type { RouteContext } from "./routes.ts";
import { toSummary } from "./summary.ts";

const DEFAULT_LIMIT = 20;
const MAX_LIMIT = 100;

/** `GET <base>/session` (beyond the protocol): the caller's sessions, newest first. */
export async function listSessions(c: RouteContext, host: Host): Promise<Response> {
  const cursor = c.req.query("cursor");
  const { sessions, cursor: next } = await host.list({
    owner: c.get("principal"),
    limit: readLimit(c.req.query("limit")),
    ...(cursor === undefined ? {} : { cursor }),
  });
  c.header("cache-control", "no-store");
  return c.json({ sessions: sessions.map(toSummary), ...(next === undefined ? {} : { cursor: next }) });
}

/** `GET <base>/session/:id/export` (beyond the protocol): all events of a session and of those below it, as NDJSON. */
export async function exportSession(c: RouteContext, host: Host): Promise<Response> {
  const head = await ownHead(c, host);
  checkKept(head);
  const { sessionId } = head;
  const stream = createExportStream(host, [sessionId, ...(await host.descendants(sessionId))]);
  return new Response(stream, {
    headers: {
      "content-type": "application/x-ndjson; charset=utf-8",
      "content-disposition": `attachment; filename="${sessionId}.ndjson"`,
      "cache-control": "no-store",
    },
  });
}

/** `DELETE <base>/session/:id` (beyond the protocol): ends the session and deletes it with those below it. */
export async function deleteSession(c: RouteContext, host: Host): Promise<Response> {
  const { sessionId } = await ownHead(c, host);
  const outcome = await host.remove(sessionId);
  if (outcome === "unknown") throw unknown();
  if (outcome === "child") {
    throw new AgentError("BAD_REQUEST", "This session belongs to the one that started it.", {
      fix: "Delete that one: this one goes with it.",
    });
  }
  c.header("cache-control", "no-store");
  return c.json({ status: "deleted" });
}

export async function ownHead(c: RouteContext, host: Host): Promise<SessionHead> {
  const head = await host.head(c.req.param("id")!);
  if (!owns(head, c.get("principal"))) throw unknown();
  return head;
}

/** @throws AgentError `SESSION_EXPIRED` */
export function checkKept({ swept }: SessionHead): void {
  if (swept !== true) return;
  throw new AgentError("SESSION_EXPIRED", "The events of this session are deleted.", {
    fix: "Export a session before its time to be kept is over.",
  });
}

function unknown(): AgentError {
  return new AgentError("NOT_FOUND", "There is no such session.", { fix: "Check its id." });
}

function readLimit(text: string | undefined): number {
  if (text === undefined) return DEFAULT_LIMIT;
  const limit = /^\d{1,3}$/.test(text) ? Number(text) : 0;
  if (limit >= 1 && limit <= MAX_LIMIT) return limit;
  throw new AgentError("BAD_REQUEST", `limit: must be a whole number from 1 to ${MAX_LIMIT}.`, {
    fix: "Correct limit.",
    data: { field: "limit" },
  });
}
