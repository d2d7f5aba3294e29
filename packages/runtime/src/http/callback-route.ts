import type { Context } from "hono";
import type { ChildSettledInput } from "../engine/input.ts";
import type { Host } from "../engine/ports.ts";
import { AgentError } from "../errors.ts";
import { turnOutcomeSchema, type TurnOutcome } from "../protocol/wire.ts";
import { resolveAddress } from "../transport/address.ts";
import type { CallbackTokens } from "../transport/callback-token.ts";
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
  const remote = task?.remote === undefined ? undefined : registry.remote(task.remote.source);
  if (task !== undefined && remote !== undefined) {
    // Only shown to people: a reply must not fail because its caller could not call now.
    const { url } = await resolveAddress(remote, env).catch(() => ({ url: remote.manifest.name }));
    await host.deliver(sessionId, id, toSettled(callId, body, url));
  }
  c.header("cache-control", "no-store");
  return c.json({ ok: true }, 202);
}

function toSettled(callId: string, body: TurnOutcome, url: string): ChildSettledInput {
  const { result } = body.outcome;
  const settled = { kind: "child.settled" as const, callIds: [callId], remote: { sessionId: body.sessionId, url } };
  switch (result.kind) {
    case "succeeded":
      return { ...settled, status: "completed", output: result.output ?? body.output ?? "" };
    case "cancelled":
      return { ...settled, status: "cancelled" };
    case "failed":
      return {
        ...settled,
        status: "failed",
        error: body.error ?? { code: "REMOTE_FAILED", message: "The remote agent failed." },
      };
  }
}
