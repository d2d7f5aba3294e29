import { createDraft, inStep, type Draft } from "./draft.ts";
import { decide, type Effect } from "./decide.ts";
import type { Advance, EffectInput, Input, MailInput, OpenInput, Surroundings } from "./input.ts";
import { modelFailed, modelResponded } from "./respond.ts";
import type { Delivery, PendingCall, SessionState } from "./state.ts";
import { remoteAccepted, remoteFailed, settleCalls } from "./settle.ts";
import { abandonedTool, failedTool, interruptedTool } from "./text.ts";
import {
  beginStep,
  cancelTurn,
  endSession,
  expireSession,
  failTurn,
  isSteered,
  refuseDelivery,
  resumeAfterCalls,
  startNextTurn,
} from "./turn.ts";

/** Runs of a tool that a crash may stop before it counts as failed (§21). */
const MAX_INTERRUPTIONS = 3;

/**
 * What an input makes of a session: the entries to append and the messages to other sessions. Pure. An input that
 * no longer fits makes nothing, so it may arrive any number of times.
 *
 * @param effectId The effect that the input is the result of: it counts only while that effect is wanted, so the
 * first result of an effect is the one that counts.
 */
export function advance(
  state: SessionState | undefined,
  input: Input,
  around: Surroundings,
  effectId?: string,
): Advance {
  const draft = createDraft(state, around);
  const wanted = effectId === undefined || (state !== undefined && decide(state).some(({ id }) => id === effectId));
  if (wanted) apply(draft, state, input);
  const changed = draft.entries.length > 0;
  return { entries: draft.entries, posts: draft.posts, state: changed ? draft.state : state };
}

function apply(draft: Draft, state: SessionState | undefined, input: Input): void {
  if (input.kind === "open") {
    if (state === undefined) open(draft, input);
    return;
  }
  if (state === undefined) return;
  switch (input.kind) {
    case "deliver":
      return deliver(draft, input.delivery);
    case "cancel":
      return cancelTurn(draft, input.turnId);
    case "reset":
      return endSession(draft, input.reason);
    case "child.settled":
      return settleCalls(draft, input);
    case "model.responded":
      return modelResponded(draft, input);
    case "model.failed":
      return modelFailed(draft, input);
    case "tool.settled":
      return settleTool(draft, input.callId, input.status, input.output);
    case "remote.accepted":
      return remoteAccepted(draft, input);
    case "remote.failed":
      return remoteFailed(draft, input);
    case "outgoing.done":
      if (!draft.state.outbox.some(({ id }) => id === input.id)) return;
      return draft.emit({ public: false, type: "outgoing.done", data: { id: input.id } });
    case "effect.interrupted":
      return interrupted(draft, input.effectId);
    case "effect.failed":
      return effectFailed(draft, input);
    case "mail.rejected":
      return mailRejected(draft, input.mail);
    case "time.passed":
      return expireSession(draft);
  }
}

function open(draft: Draft, input: OpenInput): void {
  const { nodeId, agentName, origin, initiator } = input;
  const { sessionId, now, sessionTimeoutMs } = draft.around;
  const expires = sessionTimeoutMs === undefined ? {} : { expiresAt: now + sessionTimeoutMs };
  draft.emit({
    public: false,
    type: "session.opened",
    data: { sessionId, nodeId, agentName, origin, initiator, ...expires },
  });
  if (input.first !== undefined) deliver(draft, input.first);
}

function deliver(draft: Draft, delivery: Delivery): void {
  if (draft.state.ended) return refuseDelivery(draft, delivery);
  draft.emit({ public: false, type: "delivery.queued", data: { delivery } });
  if (draft.state.turn === undefined) return startNextTurn(draft);
  // A held turn has no step that would come to a boundary.
  if (draft.turn.phase === "tasks" && isSteered(draft)) beginStep(draft);
}

function mailRejected(draft: Draft, mail: MailInput): void {
  const error = { code: "INTERNAL", message: "A message to the session could not be processed." };
  if (mail.kind === "deliver") refuseDelivery(draft, mail.delivery, error);
  if (draft.state.turn !== undefined) failTurn(draft, error);
}

function settleTool(draft: Draft, callId: string, status: "completed" | "failed", output: unknown): void {
  const call = draft.state.turn?.pending[callId];
  if (call === undefined) return;
  draft.emit({
    public: true,
    type: "action.result",
    data: {
      ...inStep(draft),
      result: { callId, kind: "tool-result", toolName: call.toolName, output },
      status,
    },
  });
  resumeAfterCalls(draft);
}

/** An effect that could not be run ends as a failed one of its kind, so that nobody waits for it. */
function effectFailed(draft: Draft, { effectId, message }: Extract<EffectInput, { kind: "effect.failed" }>): void {
  const effect = findEffect(draft, effectId);
  const failure = { code: "INTERNAL", message };
  switch (effect?.kind) {
    case "model":
      return modelFailed(draft, { kind: "model.failed", ...failure, retryable: false });
    case "tool":
      return settleTool(draft, effect.call.callId, "failed", failedTool(message));
    case "send":
    case "watch":
      return remoteFailed(draft, { taskId: effect.taskId, callId: effect.call.callId, ...failure });
    case "outgoing":
      return draft.emit({ public: false, type: "outgoing.done", data: { id: effect.outgoing.id } });
  }
}

function findEffect(draft: Draft, effectId: string): Effect | undefined {
  return decide(draft.state).find(({ id }) => id === effectId);
}

/** A crash stopped an effect: a model call is announced anew, a tool asks its `onInterrupt` (§19, §21). */
function interrupted(draft: Draft, effectId: string): void {
  const effect = findEffect(draft, effectId);
  if (effect?.kind === "model") {
    draft.emit({
      public: true,
      type: "step.started",
      data: { ...inStep(draft), modelId: draft.around.modelId, attempt: draft.turn.attempt + 1 },
    });
  }
  if (effect?.kind === "tool") interruptedCall(draft, effect.call);
}

/** What keeps ending the process may be the tool itself: it is not run for ever. */
function interruptedCall(draft: Draft, { callId, toolName, onInterrupt }: PendingCall): void {
  if (onInterrupt === "fail") return settleTool(draft, callId, "failed", interruptedTool(toolName));
  draft.emit({ public: false, type: "call.interrupted", data: { callId } });
  const { interruptions = 0 } = draft.turn.pending[callId]!;
  if (interruptions >= MAX_INTERRUPTIONS) {
    settleTool(draft, callId, "failed", abandonedTool(toolName, interruptions));
  }
}
