import { AgentError } from "../../errors.ts";
import { createSessionSchema, REMOTE_PROTOCOL_VERSION, type CreateSession } from "../../protocol/wire.ts";
import { readBody } from "../read-body.ts";
import { toDelivery, toDeliveryId, toDigest, toOperationKey, usedBefore } from "./delivery.ts";
import type { RouteContext, SessionRoutes } from "./routes.ts";

/** `POST <base>/session`: opens a session, with its first message or without. */
export async function createSession(
  c: RouteContext,
  { host, agentName, checkCallback }: SessionRoutes,
): Promise<Response> {
  const body = await readBody(c, createSessionSchema);
  const principal = c.get("principal");
  const { message, callback, operationId } = body;
  checkCaller(body);
  if (callback !== undefined) checkCallback(callback.url);
  const deliveryId = toDeliveryId("create", principal, operationId);
  const first =
    message === undefined ? undefined : toDelivery({ ...body, message }, { deliveryId, principal, policy: "queue" });
  const { sessionId, conflict } = await host.open({
    ...(operationId === undefined
      ? {}
      : { operationKey: toOperationKey("create", principal, operationId), digest: toDigest(body) }),
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

/** @throws AgentError `FORBIDDEN`, `BAD_REQUEST` */
function checkCaller({ forwardedPrincipal, protocolVersion, message, ...options }: CreateSession): void {
  // Nobody is a trusted forwarder until a channel names one (contract §18.4).
  if (forwardedPrincipal !== undefined) {
    throw new AgentError("FORBIDDEN", "This caller may not speak for somebody else.", {
      fix: "Send the request without forwardedPrincipal.",
    });
  }
  if (protocolVersion !== undefined && Math.abs(protocolVersion - REMOTE_PROTOCOL_VERSION) > 1) {
    throw new AgentError(
      "BAD_REQUEST",
      `protocolVersion: ${protocolVersion} is not spoken here, ${REMOTE_PROTOCOL_VERSION} is.`,
      { fix: "Upgrade the older of the two deployments." },
    );
  }
  const alone =
    message === undefined && (["clientContext", "outputSchema"] as const).find((field) => options[field] !== undefined);
  if (alone) {
    throw new AgentError("BAD_REQUEST", `${alone}: is of a turn, and there is none without a message.`, {
      fix: `Send message with it, or leave ${alone} out.`,
      data: { field: alone },
    });
  }
}
