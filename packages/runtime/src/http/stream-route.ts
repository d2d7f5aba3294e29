import type { Context } from "hono";
import type { Host } from "../engine/ports.ts";
import { AgentError } from "../errors.ts";
import { STREAM_VERSION } from "../protocol/events.ts";
import { owns, type Variables } from "./authenticate.ts";
import { createEventStream } from "./event-stream.ts";

/** Milliseconds that a followed stream stays open for a client that knows how to go on. */
const LEASE_MS = 60_000;

/** `GET <base>/session/:id/stream` */
export async function streamSession(
  c: Context<{ Variables: Variables }>,
  { host, leaseMs = LEASE_MS }: { readonly host: Host; readonly leaseMs?: number | undefined },
): Promise<Response> {
  const sessionId = c.req.param("id")!;
  const head = await host.head(sessionId);
  if (!owns(head, c.get("principal"))) {
    throw new AgentError("NOT_FOUND", "There is no such session.", { fix: "Check its id." });
  }
  if (head.swept === true) throw expired();
  const start = readIndex(c.req.query("startIndex"));
  const from = start < 0 ? Math.max(0, head.nextIndex + start) : start;
  const follow = c.req.query("follow") !== "false";
  const headers = streamHeaders(sessionId);
  if (!follow || c.req.query("includeTailIndex") === "1") {
    headers["x-eve-stream-tail-index"] = String(head.nextIndex - 1);
  }
  // A store that can not be read is an answer, not a stream that breaks off at once.
  if (from < head.nextIndex) await host.events(sessionId, from, 1);
  if (isHead(c)) return new Response(null, { headers });
  const leased = c.req.query("streamControlVersion") === "1" ? { leaseMs } : {};
  const stream = createEventStream({ host, sessionId, from, ...(follow ? leased : { until: head.nextIndex }) });
  return new Response(stream, { headers });
}

/** What is said of a session that was there and whose events no longer are. */
export function expired(): AgentError {
  return new AgentError("SESSION_EXPIRED", "The session is over, and its events are no longer kept.", {
    fix: "Create a new one.",
  });
}

/** HEAD runs the route of GET and drops its body without cancelling it: there must be none. */
export function isHead(c: Context): boolean {
  return c.req.raw.method === "HEAD";
}

/** Headers of every stream of events. */
export function streamHeaders(sessionId: string): Record<string, string> {
  return {
    "content-type": "application/x-ndjson; charset=utf-8",
    "cache-control": "no-store, no-transform",
    "x-accel-buffering": "no",
    "x-eve-session-id": sessionId,
    "x-eve-stream-format": "ndjson",
    "x-eve-stream-version": String(STREAM_VERSION),
  };
}

/** @throws AgentError `BAD_REQUEST` */
export function readIndex(text: string | undefined): number {
  if (text === undefined) return 0;
  if (/^-?\d{1,15}$/.test(text)) return Number(text);
  throw new AgentError("BAD_REQUEST", "startIndex: must be a whole number.", { fix: "Correct startIndex." });
}
