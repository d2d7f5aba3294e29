import { createHash } from "node:crypto";
import { outputSchemaProblem } from "../../effects/structured-output.ts";
import type { Delivery } from "../../engine/state.ts";
import { AgentError } from "../../errors.ts";
import type { Principal } from "../../protocol/principal.ts";
import type { CreateSession, SendMessage } from "../../protocol/wire.ts";
import { principalKey } from "../authenticate.ts";
import { newUlid } from "../unique-id.ts";

type Body = Pick<SendMessage, "message" | "callback" | "clientContext" | "outputSchema">;

/**
 * The message of a request, as the session takes it.
 *
 * @throws AgentError `BAD_REQUEST` for a schema that no reply can be checked by.
 */
export function toDelivery(
  { message, callback, clientContext, outputSchema }: Body,
  { deliveryId, principal, policy }: Pick<Delivery, "deliveryId" | "principal" | "policy">,
): Delivery {
  const problem = outputSchema && outputSchemaProblem(outputSchema);
  if (problem !== undefined) {
    throw new AgentError("BAD_REQUEST", `outputSchema: is no JSON Schema that is understood here (${problem}).`, {
      fix: "Correct outputSchema.",
      data: { field: "outputSchema" },
    });
  }
  return {
    deliveryId,
    parts: typeof message === "string" ? [{ type: "text", text: message }] : message,
    principal,
    policy,
    ...(callback === undefined ? {} : { replyTo: { kind: "callback", ...callback } }),
    ...(clientContext === undefined ? {} : { context: toTexts(clientContext) }),
    ...(outputSchema === undefined ? {} : { outputSchema }),
  };
}

/** One message of its own for each text; an object is one, as JSON. */
function toTexts(context: NonNullable<Body["clientContext"]>): readonly string[] {
  if (typeof context === "string") return [context];
  return Array.isArray(context) ? context : [JSON.stringify(context)];
}

/** The same operation of the same principal is the same delivery. */
export function toDeliveryId(scope: string, principal: Principal, operationId: string | undefined): string {
  if (operationId === undefined) return `del_${newUlid()}`;
  const digest = createHash("sha256").update(toOperationKey(scope, principal, operationId));
  return `del_${digest.digest("hex").slice(0, 26)}`;
}

export function toOperationKey(scope: string, principal: Principal, operationId: string): string {
  return JSON.stringify([scope, principalKey(principal), operationId]);
}

/**
 * What an operation asks for. Not part of it is where the reply goes: a caller that was restarted may have another
 * address, and its retry must find the same session.
 */
export function toDigest(body: CreateSession | SendMessage): string {
  const { message, callback, clientContext, outputSchema } = body;
  const turnPolicy = "turnPolicy" in body ? body.turnPolicy : undefined;
  const asked = [message, turnPolicy, callback?.callId, callback?.token, clientContext, outputSchema];
  // Trailing blanks are left out: an operation that was accepted before a field was known stays the same one.
  const given = asked.slice(0, Math.max(4, asked.findLastIndex((field) => field !== undefined) + 1));
  const text = JSON.stringify(given.map((field) => field ?? null));
  return createHash("sha256").update(text).digest("hex");
}

export function usedBefore(): AgentError {
  return new AgentError("OPERATION_CONFLICT", "operationId: was used before for a request with another body.", {
    fix: "Use a new operationId for each request, and the same one only to repeat it.",
  });
}
