import type { Effect } from "../engine/decide.ts";
import type { ChildSettledInput, EffectInput } from "../engine/input.ts";
import type { EffectContext } from "../engine/ports.ts";
import type { TaskCall } from "../engine/state.ts";
import { wrapDelegation } from "../engine/text.ts";
import type { StreamEvent } from "../protocol/events.ts";
import { readRemoteStream, RemoteFailure } from "../transport/remote-client.ts";
import { delay } from "./delay.ts";
import type { Member } from "./perform.ts";
import { addressOf, isRetryable, toRemoteError } from "./remote-request.ts";

/** A callback later than this may be lost; the remote's stream tells. */
const OVERDUE_MS = 10_000;
/** After a restart the callback may have come while nobody was here. */
const FIRST_LOOK_MS = 50;
const MAX_WAIT_MS = 30_000;

type WatchEffect = Extract<Effect, { kind: "send" | "watch" }>;

/**
 * A callback is a hint, the stream is the truth: finds in it how the turn ended that read the message. Returns when
 * that is known; usually the callback comes first and this is aborted.
 */
export async function watchRemote(
  member: Member,
  effect: WatchEffect,
  { signal, interrupted }: EffectContext,
): Promise<EffectInput | undefined> {
  const { remote, childSessionId, call, taskId } = effect;
  for (let wait = interrupted ? FIRST_LOOK_MS : OVERDUE_MS; ; wait = nextWait(wait)) {
    if (!(await delay(wait, signal))) return undefined;
    try {
      const request = { address: await addressOf(member, remote), signal };
      const events = await readRemoteStream(request, childSessionId!);
      const outcome = findOutcome(events, toDelivered(call));
      if (outcome !== undefined) return { kind: "child.settled", callIds: [call.callId], ...outcome };
    } catch (error) {
      if (signal.aborted) return undefined;
      const gone = error instanceof RemoteFailure && (error.status === 404 || error.status === 410);
      if (!gone && isRetryable(error)) continue;
      const { code, message } = toRemoteError(error);
      return { kind: "remote.failed", taskId, callId: call.callId, code, message };
    }
  }
}

export type Outcome = Omit<ChildSettledInput, "kind" | "callIds">;

/** What a message is found by in the stream of the remote that took it. */
export interface Delivered {
  /** What the remote called it, if it said so. */
  readonly deliveryId?: string | undefined;
  /** Messages of this task that the remote took before it. */
  readonly position: number;
  readonly message: string;
}

export function toDelivered({ deliveryId, position = 0, message }: TaskCall): Delivered {
  return { deliveryId, position, message: wrapDelegation(message) };
}

/** How the turn that read a message ended, or `undefined` while it has not. */
export function findOutcome(events: readonly StreamEvent[], delivered: Delivered): Outcome | undefined {
  const read = findReceived(events, delivered);
  if (read === undefined) return ended(events);
  const { turnId } = read.data;
  let reply: unknown = "";
  for (const event of events) {
    if (!("turnId" in event.data) || event.data.turnId !== turnId) continue;
    if (event.type === "message.completed") reply = event.data.message;
    if (event.type === "result.completed") reply = event.data.result;
    if (event.type === "turn.completed") return { status: "completed", output: reply };
    if (event.type === "turn.cancelled") return { status: "cancelled" };
    if (event.type === "turn.failed") {
      const { code, message } = event.data;
      return { status: "failed", error: { code, message } };
    }
  }
  return ended(events);
}

/**
 * A remote that names no delivery is only told apart by order. One more message than it is known to have taken may be
 * there, of a request whose answer was lost: so the text decides, too.
 */
function findReceived(
  events: readonly StreamEvent[],
  { deliveryId, position, message }: Delivered,
): Extract<StreamEvent, { type: "message.received" }> | undefined {
  const received = events.filter((event) => event.type === "message.received");
  if (deliveryId !== undefined) return received.find(({ meta }) => meta.deliveryIds?.includes(deliveryId) === true);
  return received.slice(position).find(({ data }) => data.message.trim() === message.trim());
}

/** A session that ended without the turn never answers. */
function ended(events: readonly StreamEvent[]): Outcome | undefined {
  return events.some(({ type }) => type === "session.completed") ? { status: "cancelled" } : undefined;
}

function nextWait(wait: number): number {
  return Math.min(wait < 1_000 ? 1_000 : wait * 2, MAX_WAIT_MS);
}
