import type { Usage } from "../protocol/events.ts";
import type { Entry } from "./entry.ts";
import { addUsage, NO_USAGE } from "./entry.ts";
import { withoutLastReply, withoutUnreadFiles } from "./history.ts";
import { append, countPrompt, dropContext } from "./reduce-history.ts";
import type { SessionState, Turn } from "./state.ts";

type EntryOf<T extends Entry["type"]> = Extract<Entry, { type: T }>;

/** Begins a turn. One that does a failed turn again reads what that was told; any other leaves that behind. */
export function startTurn(state: SessionState, { data, inner }: EntryOf<"turn.started">): SessionState {
  const { turnId, sequence, retryOf } = data;
  const { failed } = state;
  const again = retryOf === undefined ? undefined : failed;
  const turn: Turn = {
    turnId,
    sequence,
    principal: inner!.principal,
    phase: "model",
    stepIndex: -1,
    attempt: 0,
    failures: 0,
    retryAfterMs: undefined,
    pending: {},
    waits: [],
    results: [],
    replyTo: [],
    reply: "",
    usage: NO_USAGE,
    reissued: undefined,
    spoke: false,
    compactedAt: undefined,
    outputSchema: again?.outputSchema,
    refusals: 0,
    result: undefined,
  };
  const begun = { ...state, nextSequence: sequence + 1, failed: undefined, turn };
  if (again !== undefined) return { ...begun, history: withoutLastReply(begun.history) };
  if (failed === undefined) return begun;
  return dropContext({ ...begun, history: withoutUnreadFiles(begun.history) });
}

/** The turn has read a message. */
export function receiveMessage(state: SessionState, { data, inner }: EntryOf<"message.received">): SessionState {
  const { deliveryIds, replyTo, context, outputSchema } = inner!;
  const read = { ...state, queue: withoutDeliveries(state.queue, deliveryIds) };
  const item = { role: "user", parts: data.parts, ...(context === undefined ? {} : { context }) } as const;
  return inTurn(append(read, item), (turn) => ({
    replyTo: replyTo === undefined ? turn.replyTo : [...turn.replyTo, replyTo],
    outputSchema: outputSchema ?? turn.outputSchema,
  }));
}

/** A model call is due. */
export function startStep(state: SessionState, { data }: EntryOf<"step.started">): SessionState {
  const { stepIndex, attempt } = data;
  return inTurn(state, (turn) => ({
    phase: "model",
    stepIndex,
    attempt,
    spoke: false,
    // An attempt, or the request for an empty reply, has what is left of the step's provider calls (§19).
    failures: stepIndex === turn.stepIndex || turn.reissued === turn.stepIndex ? turn.failures : 0,
  }));
}

export function completeStep(state: SessionState, { data: { usage } }: EntryOf<"step.completed">): SessionState {
  return spend(countPrompt(state, usage), usage);
}

export function failStep(state: SessionState, { data, inner }: EntryOf<"step.failed">): SessionState {
  return inTurn(spend(state, data.usage ?? NO_USAGE), ({ failures }) => ({
    failures: failures + 1,
    retryAfterMs: inner?.retryAfterMs,
  }));
}

/** A crash stopped a tool. */
export function countInterruption(state: SessionState, callId: string): SessionState {
  return inTurn(state, ({ pending }) => {
    const call = pending[callId];
    if (call === undefined) return {};
    return { pending: { ...pending, [callId]: { ...call, interruptions: (call.interruptions ?? 0) + 1 } } };
  });
}

export function endTurn(state: SessionState): SessionState {
  return dropContext({ ...state, turn: undefined, compaction: undefined, failed: undefined });
}

/** What a failed turn was told stays until another turn begins, which may do it again. */
export function failTurn(state: SessionState): SessionState {
  const { turnId, principal, outputSchema } = state.turn!;
  return { ...state, turn: undefined, compaction: undefined, failed: { turnId, principal, outputSchema } };
}

function spend(state: SessionState, usage: Usage): SessionState {
  return inTurn({ ...state, usage: addUsage(state.usage, usage) }, (turn) => ({ usage: addUsage(turn.usage, usage) }));
}

/** Changes the turn under way, if there is one. */
export function inTurn(state: SessionState, change: (turn: Turn) => Partial<Turn>): SessionState {
  return state.turn === undefined ? state : { ...state, turn: { ...state.turn, ...change(state.turn) } };
}

export function withoutDeliveries(queue: SessionState["queue"], deliveryIds: readonly string[]): SessionState["queue"] {
  return queue.filter((delivery) => !deliveryIds.includes(delivery.deliveryId));
}
