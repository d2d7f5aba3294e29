import type { EffectInput } from "../engine/input.ts";
import type { EffectContext } from "../engine/ports.ts";
import type { Outgoing } from "../engine/state.ts";
import { postCallback, stopRemoteSession } from "../transport/remote-client.ts";
import { delay } from "./delay.ts";
import type { Member } from "./perform.ts";
import { addressOf, isRetryable } from "./remote-request.ts";

const FIRST_DELAY_MS = 100;
const MAX_DELAY_MS = 30_000;
/** A callback is only a hint, and a stop is best effort: neither is tried for ever. */
const MAX_TRIES = { callback: 200, cancel: 5, reset: 5 } as const;

/** Sends what must arrive though no turn waits for it. What does not arrive in the end is given up. */
export async function deliverOutgoing(
  member: Member,
  outgoing: Outgoing,
  { signal }: EffectContext,
): Promise<EffectInput | undefined> {
  const done: EffectInput = { kind: "outgoing.done", id: outgoing.id };
  let wait = FIRST_DELAY_MS;
  for (let tries = 1; tries <= MAX_TRIES[outgoing.kind]; tries++) {
    try {
      await send(member, outgoing, signal);
      return done;
    } catch (error) {
      if (signal.aborted) return undefined;
      if (!isRetryable(error)) return done;
      if (!(await delay(wait, signal))) return undefined;
      wait = Math.min(wait * 2, MAX_DELAY_MS);
    }
  }
  return done;
}

async function send(member: Member, outgoing: Outgoing, signal: AbortSignal): Promise<void> {
  if (outgoing.kind === "callback") return postCallback(outgoing.url, outgoing.body, signal);
  const address = await addressOf(member, outgoing.remote);
  return stopRemoteSession({ address, signal }, outgoing.remoteSessionId, outgoing.kind);
}
