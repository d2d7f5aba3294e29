import { createHash } from "node:crypto";
import { Hono, type Context } from "hono";
import type { z } from "zod";
import type { Host } from "../engine/ports.ts";
import type { Delivery } from "../engine/state.ts";
import { AgentError } from "../errors.ts";
import type { MessagePart } from "../protocol/events.ts";
import type { Principal } from "../protocol/principal.ts";
import {
  cancelSchema,
  createSessionSchema,
  REMOTE_PROTOCOL_VERSION,
  resetSchema,
  sendSchema,
  type Callback,
} from "../protocol/wire.ts";
import { owns, principalKey, type Variables } from "./authenticate.ts";
import { readBody } from "./read-body.ts";
import { streamSession } from "./stream-route.ts";
import { newUlid } from "./unique-id.ts";

export interface SessionRoutes {
  readonly host: Host;
  readonly agentName: string;
  /** Throws when this member may not post to a URL. */
  readonly checkCallback: (url: string) => void;
  readonly leaseMs?: number | undefined;
}

type RouteContext = Context<{ Variables: Variables }>;

/** Create, send, cancel, reset and stream: the session part of the protocol. */
export function createSessionRoutes(options: SessionRoutes): Hono<{ Variables: Variables }> {
  const { host } = options;
  const routes = new Hono<{ Variables: Variables }>();
  routes.post("/", (c) => createSession(c, options));
  routes.post("/:id", (c) => sendMessage(c, options));
  routes.post("/:id/cancel", (c) => cancelTurn(c, host));
  routes.post("/:id/reset", (c) => resetSession(c, host));
  routes.get("/:id/stream", (c) => streamSession(c, options));
  return routes;
}

async function createSession(c: RouteContext, { host, agentName, checkCallback }: SessionRoutes): Promise<Response> {
  const body = await readBody(c, createSessionSchema);
  const principal = c.get("principal");
  const { message, callback, operationId, protocolVersion } = body;
  refuseForwarding(body.forwardedPrincipal);
  if (callback !== undefined) checkCallback(callback.url);
  if (protocolVersion !== undefined && Math.abs(protocolVersion - REMOTE_PROTOCOL_VERSION) > 1) {
    throw new AgentError(
      "BAD_REQUEST",
      `protocolVersion: ${protocolVersion} is not spoken here, ${REMOTE_PROTOCOL_VERSION} is.`,
      { fix: "Upgrade the older of the two deployments." },
    );
  }
  const deliveryId = toDeliveryId("create", principal, operationId);
  const first =
    message === undefined ? undefined : toDelivery({ deliveryId, message, principal, policy: "queue", callback });
  const { sessionId, conflict } = await host.open({
    ...(operationId === undefined
      ? {}
      : { operationKey: operationKey("create", principal, operationId), digest: toDigest(body) }),
    input: {
      kind: "open",
      nodeId: "root",
      agentName,
      origin: callback === undefined ? { kind: "root" } : { kind: "remote" },
      initiator: principal,
      ...(first === undefined ? {} : { first }),
    },
  });
  if (conflict) throw usedBefore();
  c.header("x-eve-session-id", sessionId);
  c.header("cache-control", "no-store");
  const delivered = first === undefined ? {} : { deliveryId };
  const spoken = callback === undefined ? {} : { protocolVersion: REMOTE_PROTOCOL_VERSION };
  return c.json({ ok: true, sessionId, status: "accepted", ...delivered, ...spoken }, 202);
}

async function sendMessage(c: RouteContext, { host, checkCallback }: SessionRoutes): Promise<Response> {
  const sessionId = c.req.param("id")!;
  const body = await readBody(c, sendSchema);
  const { message, turnPolicy, operationId, callback } = body;
  if (callback !== undefined) checkCallback(callback.url);
  const principal = c.get("principal");
  const deliveryId = toDeliveryId(sessionId, principal, operationId);
  const delivery = toDelivery({ deliveryId, message, principal, policy: turnPolicy ?? "steer", callback });
  const owned = owns(await host.head(sessionId), principal);
  const digest = operationId === undefined ? undefined : toDigest(body);
  const outcome = owned ? await host.deliver(sessionId, deliveryId, { kind: "deliver", delivery }, digest) : "unknown";
  if (outcome === "conflict") throw usedBefore();
  if (outcome === "unknown" || outcome === "ended") {
    throw new AgentError("SESSION_NOT_ACTIVE", "The session is not active.", { fix: "Create a new one." });
  }
  c.header("cache-control", "no-store");
  return c.json({ ok: true, sessionId, status: "accepted", deliveryId }, 202);
}

async function cancelTurn(c: RouteContext, host: Host): Promise<Response> {
  const sessionId = c.req.param("id")!;
  const { turnId } = await readBody(c, cancelSchema);
  const turn = owns(await host.head(sessionId), c.get("principal")) ? (await host.state(sessionId))?.turn : undefined;
  c.header("cache-control", "no-store");
  if (turn === undefined || (turnId !== undefined && turnId !== turn.turnId)) {
    return c.json({ status: "no_active_turn" });
  }
  await host.deliver(sessionId, `cancel:${newUlid()}`, { kind: "cancel", turnId: turn.turnId });
  return c.json({ status: "accepted" }, 202);
}

async function resetSession(c: RouteContext, host: Host): Promise<Response> {
  const sessionId = c.req.param("id")!;
  const { reason } = await readBody(c, resetSchema);
  const owned = owns(await host.head(sessionId), c.get("principal"));
  const input = { kind: "reset" as const, ...(reason === undefined ? {} : { reason }) };
  const outcome = owned ? await host.deliver(sessionId, `reset:${newUlid()}`, input) : "unknown";
  c.header("cache-control", "no-store");
  return outcome === "accepted"
    ? c.json({ status: "reset", previousSessionId: sessionId })
    : c.json({ status: "no_active_session" });
}

/** Nobody is a trusted forwarder until a channel names one, so every forwarded identity is refused (contract §18.4). */
function refuseForwarding(forwarded: unknown): void {
  if (forwarded === undefined) return;
  throw new AgentError("FORBIDDEN", "This caller may not speak for somebody else.", {
    fix: "Send the request without forwardedPrincipal.",
  });
}

/** The same operation of the same principal is the same delivery. */
function toDeliveryId(scope: string, principal: Principal, operationId: string | undefined): string {
  if (operationId === undefined) return `del_${newUlid()}`;
  const digest = createHash("sha256").update(operationKey(scope, principal, operationId));
  return `del_${digest.digest("hex").slice(0, 26)}`;
}

/**
 * What an operation asks for. Not part of it is where the reply goes: a caller that was restarted may have another
 * address, and its retry must find the same session.
 */
function toDigest({
  message,
  turnPolicy,
  callback,
}: Pick<z.infer<typeof sendSchema>, "turnPolicy" | "callback"> & {
  readonly message?: unknown;
}): string {
  const asked = JSON.stringify([
    message ?? null,
    turnPolicy ?? null,
    callback?.callId ?? null,
    callback?.token ?? null,
  ]);
  return createHash("sha256").update(asked).digest("hex");
}

function usedBefore(): AgentError {
  return new AgentError("OPERATION_CONFLICT", "operationId: was used before for a request with another body.", {
    fix: "Use a new operationId for each request, and the same one only to repeat it.",
  });
}

function operationKey(scope: string, principal: Principal, operationId: string): string {
  return JSON.stringify([scope, principalKey(principal), operationId]);
}

function toDelivery(request: {
  readonly deliveryId: string;
  readonly message: string | readonly MessagePart[];
  readonly principal: Principal;
  readonly policy: Delivery["policy"];
  readonly callback: Callback | undefined;
}): Delivery {
  const { deliveryId, message, principal, policy, callback } = request;
  const parts = typeof message === "string" ? [{ type: "text" as const, text: message }] : message;
  const replyTo = callback === undefined ? {} : { replyTo: { kind: "callback" as const, ...callback } };
  return { deliveryId, parts, principal, policy, ...replyTo };
}
