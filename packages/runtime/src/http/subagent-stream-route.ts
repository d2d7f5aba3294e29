import type { Context } from "hono";
import type { Host } from "../engine/ports.ts";
import { AgentError } from "../errors.ts";
import type { Registry } from "../registry/registry.ts";
import { resolveAddress } from "../transport/address.ts";
import { openRemoteStream } from "../transport/remote-client.ts";
import { owns, type Variables } from "./authenticate.ts";
import { expired, isHead, readIndex, streamHeaders } from "./stream-route.ts";

const RELAYED_QUERY = ["startIndex", "follow", "includeTailIndex", "streamControlVersion"];

/**
 * `GET <base>/session/:id/subagents/:callId/:childId/stream`: relays the stream of a remote child that this session
 * started, with the session's own credentials; who reads it never holds them (contract §10.6).
 */
export async function relaySubagentStream(
  c: Context<{ Variables: Variables }>,
  { host, registry, env }: { host: Host; registry: Registry; env: Readonly<Record<string, string | undefined>> },
): Promise<Response> {
  const { id, callId, childId } = c.req.param() as { id: string; callId: string; childId: string };
  const unknown = new AgentError("NOT_FOUND", "This session has no such agent.", {
    fix: "Use the streamPath of agent.started.",
  });
  const head = await host.head(id);
  if (!owns(head, c.get("principal"))) throw unknown;
  if (head.swept === true) throw expired();
  const state = await host.state(id);
  const task = Object.values(state?.tasks ?? {}).find(
    ({ childSessionId, openedBy }) => childSessionId === childId && openedBy === callId,
  );
  const remote = task?.remote === undefined ? undefined : registry.remote(task.remote.source);
  if (remote === undefined) throw unknown;
  readIndex(c.req.query("startIndex"));
  if (isHead(c)) return new Response(null, { headers: streamHeaders(childId) });
  const query = new URLSearchParams(
    RELAYED_QUERY.flatMap((name) => {
      const value = c.req.query(name);
      return value === undefined ? [] : [[name, value]];
    }),
  );
  const address = await resolveAddress(remote, env);
  const failed = (message: string): AgentError => new AgentError("REMOTE_FAILED", message, { fix: "Try again later." });
  const response = await openRemoteStream({ address, signal: c.req.raw.signal }, childId, `?${query}`).catch(() => {
    throw failed("The remote can not be reached.");
  });
  if (!response.ok) {
    await response.body?.cancel();
    // Final, unlike what else a remote may answer: a reader that tries again would try in vain.
    if (response.status === 404) throw unknown;
    if (response.status === 410) throw expired();
    throw failed(`The remote answered ${response.status}.`);
  }
  const tail = response.headers.get("x-eve-stream-tail-index");
  return new Response(response.body, {
    headers: { ...streamHeaders(childId), ...(tail === null ? {} : { "x-eve-stream-tail-index": tail }) },
  });
}
