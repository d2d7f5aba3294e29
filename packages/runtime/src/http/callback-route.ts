import type { Context } from "hono";
import { findOutcome, toDelivered, type Outcome } from "../effects/watch-remote.ts";
import type { Host } from "../engine/ports.ts";
import type { Task } from "../engine/state.ts";
import { AgentError } from "../errors.ts";
import { turnOutcomeSchema, type TurnOutcome } from "../protocol/wire.ts";
import { resolveAddress, type RemoteAddress } from "../transport/address.ts";
import type { CallbackTokens } from "../transport/callback-token.ts";
import { readRemoteStream } from "../transport/remote-client.ts";
import type { Registry } from "../registry/registry.ts";
import { readBody } from "./read-body.ts";

export interface CallbackRoute {
  readonly host: Host;
  readonly tokens: CallbackTokens;
  readonly registry: Registry;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** `POST <base>/callback/:token`: a remote child's turn ended. The token is all the authority there is. */
export async function receiveCallback(c: Context, { host, tokens, registry, env }: CallbackRoute): Promise<Response> {
  const call = tokens.verify(c.req.param("token")!);
  const unknown = new AgentError("NOT_FOUND", "Nobody waits for this callback.", { fix: "Do not send it again." });
  if (call === undefined) throw unknown;
  const body = await readBody(c, turnOutcomeSchema);
  const { sessionId, turnId, callId } = call;
  const id = `callback:${turnId}:${callId}`;
  const state = await host.state(sessionId);
  if (state === undefined || state.ended) throw unknown;
  const task = Object.values(state.tasks).find(({ waiting }) =>
    waiting.some((waited) => waited.callId === callId && waited.turnId === turnId && !waited.abandoned),
  );
  if (task === undefined && !(await host.delivered(sessionId, id))) throw unknown;
  if (body.callId !== callId) throw mismatch("callId");
  if (task?.remote !== undefined && task.remote.name !== body.subagentName) throw mismatch("subagentName");
  const remote = task?.remote === undefined ? undefined : registry.remote(task.remote.source);
  if (task !== undefined && remote !== undefined) {
    // A reply must not fail because its caller could not call now: the address is for people, or for a second look.
    const address = await resolveAddress(remote, env).catch(() => undefined);
    const outcome = toOutcome(body) ?? (await readOutcome(task, callId, address, body.sessionId));
    const child = { sessionId: body.sessionId, url: address?.url ?? remote.manifest.name };
    await host.deliver(sessionId, id, { kind: "child.settled", callIds: [callId], remote: child, ...outcome });
  }
  c.header("cache-control", "no-store");
  return c.json({ ok: true }, 202);
}

function mismatch(field: string): AgentError {
  return new AgentError("BAD_REQUEST", `${field}: is not that of the call that the token is for.`, {
    fix: "Repeat callId and subagentName as the request gave them.",
    data: { field },
  });
}

/** How the turn ended, or `undefined` when its reply must be read from the stream: too large to be sent. */
function toOutcome({ outcome: { result }, output, error }: TurnOutcome): Outcome | undefined {
  switch (result.kind) {
    case "succeeded": {
      const reply = result.output ?? output;
      return reply === undefined ? undefined : { status: "completed", output: reply };
    }
    case "cancelled":
      return { status: "cancelled" };
    case "failed":
      return { status: "failed", error: error ?? { code: "REMOTE_FAILED", message: "The remote agent failed." } };
  }
}

/** @throws AgentError `REMOTE_FAILED`: the remote tries again. */
async function readOutcome(
  task: Task,
  callId: string,
  address: RemoteAddress | undefined,
  remoteSessionId: string,
): Promise<Outcome> {
  const call = task.waiting.find((waited) => waited.callId === callId)!;
  const request = address && { address, signal: new AbortController().signal };
  const events = request && (await readRemoteStream(request, task.childSessionId ?? remoteSessionId).catch(() => []));
  const outcome =
    events && findOutcome(events, toDelivered({ ...call, position: call.position ?? task.accepted ?? 0 }));
  if (outcome !== undefined) return outcome;
  throw new AgentError("REMOTE_FAILED", "The reply is not in the callback, and not in the stream.", {
    fix: "Send it again later.",
  });
}
