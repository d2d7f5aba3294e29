import type { EffectInput } from "../engine/input.ts";
import type { EffectContext } from "../engine/ports.ts";
import type { Outgoing } from "../engine/state.ts";
import { postCallback, RemoteFailure, stopRemoteSession } from "../transport/remote-client.ts";
import { delay } from "./delay.ts";
import type { Member } from "./perform.ts";
import { addressOf, isRetryable } from "./remote-request.ts";

type Callback = Extract<Outgoing, { kind: "callback" }>;

const FIRST_DELAY_MS = 100;
/** A message to the same session waits for the cancel before it, so a peer that is back is found soon. */
const MAX_DELAY_MS = { callback: 30_000, cancel: 5_000, reset: 30_000 } as const;
/**
 * Longer than a peer takes to restart: what was cancelled must not go on there. Not for ever: a callback is only a
 * hint, the caller finds the outcome in the stream.
 */
const PATIENCE_MS = { callback: 600_000, cancel: 120_000, reset: 600_000 } as const;

/** Sends what must arrive though no turn waits for it. What does not arrive in the end is given up. */
export async function deliverOutgoing(
  member: Member,
  outgoing: Outgoing,
  { signal }: EffectContext,
): Promise<EffectInput | undefined> {
  const done: EffectInput = { kind: "outgoing.done", id: outgoing.id };
  const deadline = Date.now() + PATIENCE_MS[outgoing.kind];
  for (let wait = FIRST_DELAY_MS; ; wait = Math.min(wait * 2, MAX_DELAY_MS[outgoing.kind])) {
    try {
      await send(member, outgoing, signal);
      return done;
    } catch (error) {
      if (signal.aborted) return undefined;
      if (!isRetryable(error) || Date.now() + wait > deadline) return done;
      if (!(await delay(wait, signal))) return undefined;
    }
  }
}

async function send(member: Member, outgoing: Outgoing, signal: AbortSignal): Promise<void> {
  if (outgoing.kind === "callback") return sendCallback(outgoing, signal);
  const address = await addressOf(member, outgoing.remote);
  return stopRemoteSession({ address, signal }, outgoing.remoteSessionId, outgoing.kind);
}

/** A caller that does not take a reply of this size is told without it, and reads it from the stream. */
async function sendCallback({ url, body }: Callback, signal: AbortSignal): Promise<void> {
  try {
    await postCallback(url, body, signal);
  } catch (error) {
    if (!(error instanceof RemoteFailure) || error.status !== 413) throw error;
    await postCallback(url, withoutOutput(body), signal);
  }
}

function withoutOutput(body: Callback["body"]): Callback["body"] {
  const outcome = body.outcome as { readonly result: object };
  const result = { ...outcome.result, output: undefined };
  return { ...body, output: undefined, outcome: { ...outcome, result } };
}
