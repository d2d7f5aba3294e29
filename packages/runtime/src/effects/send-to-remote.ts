import type { Effect } from "../engine/decide.ts";
import type { EffectInput } from "../engine/input.ts";
import type { EffectContext } from "../engine/ports.ts";
import type { TaskCall } from "../engine/state.ts";
import { wrapDelegation } from "../engine/text.ts";
import {
  createRemoteSession,
  readRemoteStream,
  sendToRemoteSession,
  type Accepted,
} from "../transport/remote-client.ts";
import { delay } from "./delay.ts";
import type { Member } from "./perform.ts";
import { addressOf, isRetryable, toRemoteError } from "./remote-request.ts";
import { findOutcome, toDelivered } from "./watch-remote.ts";

/** A remote that is being restarted is waited for this long. */
const PATIENCE_MS = 60_000;
const FIRST_DELAY_MS = 100;
const MAX_DELAY_MS = 5_000;

type SendEffect = Extract<Effect, { kind: "send" | "watch" }>;

/** Hands a message to a remote: creates its session, or continues it. Repeated under the same operation id. */
export async function sendToRemote(
  member: Member,
  { taskId, remote, childSessionId, call }: SendEffect,
  { state, signal, interrupted }: EffectContext,
): Promise<EffectInput | undefined> {
  const { callId, turnId } = call;
  const token = member.tokens.create({ sessionId: state.sessionId, turnId, callId });
  const body = {
    message: wrapDelegation(call.message),
    callback: { callId, subagentName: remote.name, token, url: `${member.publicBase()}/callback/${token}` },
    operationId: `${state.sessionId}:${turnId}:${callId}`,
  };
  const deadline = Date.now() + PATIENCE_MS;
  for (let wait = FIRST_DELAY_MS; ; wait = Math.min(wait * 2, MAX_DELAY_MS)) {
    try {
      const address = await addressOf(member, remote);
      const request = { address, signal };
      const accepted =
        childSessionId === undefined
          ? await createRemoteSession(request, body)
          : await sendToRemoteSession(request, childSessionId, body);
      const { sessionId } = accepted;
      const outcome = interrupted ? await readOutcome(request, accepted, call) : undefined;
      if (outcome !== undefined) {
        return { kind: "child.settled", callIds: [callId], remote: { sessionId, url: address.url }, ...outcome };
      }
      return {
        kind: "remote.accepted",
        taskId,
        callId,
        remoteSessionId: sessionId,
        deliveryId: accepted.deliveryId,
        url: address.url,
      };
    } catch (error) {
      if (signal.aborted) return undefined;
      if (!isRetryable(error) || Date.now() + wait > deadline) {
        return { kind: "remote.failed", taskId, callId, ...toRemoteError(error) };
      }
      if (!(await delay(wait, signal))) return undefined;
    }
  }
}

/**
 * The remote may have taken the message before the crash and replied to nobody since: its next callback may be far
 * off. When that can not be read, the callback or the watch tells.
 */
async function readOutcome(
  request: Parameters<typeof readRemoteStream>[0],
  { sessionId, deliveryId }: Accepted,
  call: TaskCall,
): Promise<ReturnType<typeof findOutcome>> {
  if (deliveryId === undefined) return undefined;
  const events = await readRemoteStream(request, sessionId).catch(() => []);
  return findOutcome(events, toDelivered({ ...call, deliveryId }));
}
