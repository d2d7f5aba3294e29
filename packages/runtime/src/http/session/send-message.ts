import { AgentError } from "../../errors.ts";
import { sendSchema } from "../../protocol/wire.ts";
import { owns } from "../authenticate.ts";
import { readBody } from "../read-body.ts";
import { toDelivery, toDeliveryId, toDigest, usedBefore } from "./delivery.ts";
import type { RouteContext, SessionRoutes } from "./routes.ts";

/** `POST <base>/session/:id`: another message. */
export async function sendMessage(c: RouteContext, { host, checkCallback }: SessionRoutes): Promise<Response> {
  const sessionId = c.req.param("id")!;
  const body = await readBody(c, sendSchema);
  const { turnPolicy, operationId, callback } = body;
  if (callback !== undefined) checkCallback(callback.url);
  const principal = c.get("principal");
  const deliveryId = toDeliveryId(sessionId, principal, operationId);
  const delivery = toDelivery(body, { deliveryId, principal, policy: turnPolicy ?? "steer" });
  const owned = owns(await host.head(sessionId), principal);
  const digest = operationId === undefined ? undefined : toDigest(body);
  const outcome = owned ? await host.deliver(sessionId, deliveryId, { kind: "deliver", delivery }, digest) : "unknown";
  if (outcome === "conflict") throw usedBefore();
  if (outcome === "unknown" || outcome === "ended") throw notActive();
  c.header("cache-control", "no-store");
  return c.json({ ok: true, sessionId, status: "accepted", deliveryId }, 202);
}

export function notActive(): AgentError {
  return new AgentError("SESSION_NOT_ACTIVE", "The session is not active.", { fix: "Create a new one." });
}
