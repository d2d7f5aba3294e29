import type { MailInput } from "../../engine/input.ts";
import type { DeliveryOutcome, Host } from "../../engine/ports.ts";
import type { SessionState } from "../../engine/state.ts";
import { AgentError } from "../../errors.ts";
import { cancelSchema, emptySchema, resetSchema, retrySchema } from "../../protocol/wire.ts";
import { actsAs, owns } from "../authenticate.ts";
import { readBody } from "../read-body.ts";
import { newUlid } from "../unique-id.ts";
import type { RouteContext } from "./routes.ts";
import { notActive } from "./send-message.ts";

/** `POST <base>/session/:id/cancel`: stops the turn under way. */
export async function cancelTurn(c: RouteContext, host: Host): Promise<Response> {
  const { turnId } = await readBody(c, cancelSchema);
  const turn = (await ownState(c, host))?.turn;
  c.header("cache-control", "no-store");
  if (turn === undefined || (turnId !== undefined && turnId !== turn.turnId)) {
    return c.json({ status: "no_active_turn" });
  }
  await deliver(c, host, `cancel:${newUlid()}`, { kind: "cancel", turnId: turn.turnId });
  return c.json({ status: "accepted" }, 202);
}

/** `POST <base>/session/:id/compact` and `/clear`: what the model remembers becomes a summary, or nothing. */
export async function controlHistory(c: RouteContext, host: Host, kind: "compact" | "clear"): Promise<Response> {
  await readBody(c, emptySchema);
  const state = await ownState(c, host);
  const outcome = state?.started === true ? await deliver(c, host, `${kind}:${newUlid()}`, { kind }) : "unknown";
  c.header("cache-control", "no-store");
  if (outcome !== "accepted") return c.json({ status: "no_active_session" });
  return c.json({ ok: true, sessionId: c.req.param("id"), status: "accepted" }, 202);
}

/** `POST <base>/session/:id/reset`: ends the session. */
export async function resetSession(c: RouteContext, host: Host): Promise<Response> {
  const { reason } = await readBody(c, resetSchema);
  const input = { kind: "reset" as const, ...(reason === undefined ? {} : { reason }) };
  const owned = owns(await host.head(c.req.param("id")!), c.get("principal"));
  const outcome = owned ? await deliver(c, host, `reset:${newUlid()}`, input) : "unknown";
  c.header("cache-control", "no-store");
  return outcome === "accepted"
    ? c.json({ status: "reset", previousSessionId: c.req.param("id") })
    : c.json({ status: "no_active_session" });
}

/** `POST <base>/session/:id/retry` (beyond the protocol): does the last turn again, when it failed. */
export async function retryTurn(c: RouteContext, host: Host): Promise<Response> {
  const { turnId } = await readBody(c, retrySchema);
  const state = await ownState(c, host);
  if (state === undefined || state.ended) throw notActive();
  const { failed, nextSequence } = state;
  if (failed === undefined || (turnId !== undefined && turnId !== failed.turnId)) {
    throw new AgentError("NOTHING_TO_RETRY", "The last turn of the session did not fail.", {
      fix: "Send a message instead.",
    });
  }
  const principal = actsAs(c.get("principal"), failed.principal);
  // One retry of each failed turn: asking twice is asking once.
  await deliver(c, host, `retry:${failed.turnId}`, { kind: "retry", turnId: failed.turnId, principal });
  c.header("cache-control", "no-store");
  const { sessionId } = state;
  return c.json({ ok: true, sessionId, status: "accepted", turnId: `turn_${nextSequence}` }, 202);
}

async function ownState(c: RouteContext, host: Host): Promise<SessionState | undefined> {
  const sessionId = c.req.param("id")!;
  return owns(await host.head(sessionId), c.get("principal")) ? host.state(sessionId) : undefined;
}

function deliver(c: RouteContext, host: Host, id: string, input: MailInput): Promise<DeliveryOutcome> {
  return host.deliver(c.req.param("id")!, id, input);
}
