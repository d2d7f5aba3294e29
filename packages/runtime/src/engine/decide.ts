import type { CallLimits, Outgoing, PendingCall, RemoteTarget, SessionState, Task, TaskCall } from "./state.ts";
import { isSteered } from "./steering.ts";

/** Work that should be running for a session, each with an id that stays the same across restarts. */
export type Effect =
  | {
      readonly id: string;
      readonly kind: "model";
      readonly failures: number;
      readonly retryAfterMs?: number;
    }
  | {
      readonly id: string;
      readonly kind: "tool";
      readonly turnId: string;
      readonly call: PendingCall;
      /** The turn's caller has sent another message: the call may stop early (§16). */
      readonly steered: boolean;
    }
  /** The history without its last `kept` items becomes a summary. */
  | { readonly id: string; readonly kind: "compact"; readonly kept: number }
  | {
      readonly id: string;
      /** `send`: the remote must get the message. `watch`: its reply is due, by callback or from its stream. */
      readonly kind: "send" | "watch";
      readonly taskId: string;
      readonly remote: RemoteTarget;
      readonly childSessionId: string | undefined;
      readonly call: TaskCall;
    }
  /** Tells when a call has had its time (§6.11). */
  | {
      readonly id: string;
      readonly kind: "limit";
      readonly taskId: string;
      readonly callId: string;
      readonly remote: RemoteTarget | undefined;
      readonly childSessionId: string | undefined;
      readonly limits: CallLimits;
    }
  | { readonly id: string; readonly kind: "outgoing"; readonly outgoing: Outgoing };

/** The set of effects that should be running in a state; what is not in it is to be aborted. */
export function decide(state: SessionState): readonly Effect[] {
  return [...turnEffects(state), ...compactEffects(state), ...taskEffects(state), ...outgoingEffects(state)];
}

function turnEffects(state: SessionState): Effect[] {
  const { turn, ended } = state;
  if (turn === undefined || ended) return [];
  if (turn.phase === "model") {
    const id = `model:${turn.turnId}:${turn.stepIndex}:${turn.attempt}`;
    const { failures, retryAfterMs } = turn;
    return [{ id, kind: "model", failures, ...(retryAfterMs === undefined ? {} : { retryAfterMs }) }];
  }
  const steered = isSteered(state);
  return Object.values(turn.pending).map((call) => ({
    id: `tool:${turn.turnId}:${call.callId}`,
    kind: "tool",
    turnId: turn.turnId,
    call,
    steered,
  }));
}

function compactEffects({ compaction, compactions, ended }: SessionState): Effect[] {
  if (compaction === undefined || ended) return [];
  return [{ id: `compact:${compactions}`, kind: "compact", kept: compaction.kept }];
}

function taskEffects(state: SessionState): Effect[] {
  const effects: Effect[] = [];
  for (const task of Object.values(state.tasks)) {
    const { taskId, remote, childSessionId, waiting } = task;
    for (const { callId, limits, abandoned, read } of waiting) {
      if (limits === undefined || abandoned || read) continue;
      // Once the child's session is known it can be heard.
      const id = `limit:${taskId}:${callId}${childSessionId === undefined ? ":unopened" : ""}`;
      effects.push({ id, kind: "limit", taskId, callId, remote, childSessionId, limits });
    }
    if (remote === undefined) continue;
    const unsent = beingSent(state, task);
    if (unsent !== undefined) {
      const id = `send:${taskId}:${unsent.callId}`;
      effects.push({ id, kind: "send", taskId, remote, childSessionId, call: unsent });
    }
    for (const call of waiting) {
      if (!call.sent || call.read) continue;
      effects.push({ id: `watch:${taskId}:${call.callId}`, kind: "watch", taskId, remote, childSessionId, call });
    }
  }
  return effects;
}

/**
 * The call whose message is on its way to the remote. One at a time, for a follow-up needs the session that the first
 * one opens, and none while a cancel is under way, which would stop the new work with the old.
 */
export function beingSent({ outbox }: SessionState, { childSessionId, waiting }: Task): TaskCall | undefined {
  const unsent = waiting.find((call) => !call.sent);
  if (unsent === undefined || unsent.abandoned) return unsent;
  const stopping = outbox.some((queued) => queued.kind !== "callback" && queued.remoteSessionId === childSessionId);
  return stopping ? undefined : unsent;
}

function outgoingEffects({ outbox }: SessionState): Effect[] {
  return outbox.map((outgoing) => ({ id: `outgoing:${outgoing.id}`, kind: "outgoing", outgoing }));
}
