import { finishCompaction, queueControl } from "./compact.ts";
import { createDraft, inStep, type Draft } from "./draft.ts";
import { decide, type Effect } from "./decide.ts";
import type { Advance, EffectInput, Input, MailInput, OpenInput, Surroundings } from "./input.ts";
import { modelFailed, modelResponded } from "./respond.ts";
import type { Control, Delivery, PendingCall, SessionState } from "./state.ts";
import { remoteAccepted, remoteFailed, settleCalls } from "./settle.ts";
import { isSteered } from "./steering.ts";
import { abandonedTool, failedTool, interruptedTool } from "./text.ts";
import {
  beginStep,
  cancelTurn,
  endSession,
  expireSession,
  failTurn,
  goOn,
  refuseDelivery,
  restartStep,
  resumeAfterCalls,
  retryTurn,
  sayWaiting,
  startNextTurn,
  steerStep,
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
    case "compact":
    case "clear":
      return control(draft, input.kind);
    case "retry":
      return retryTurn(draft, input.turnId, input.principal);
    case "child.settled":
      return settleCalls(draft, input);
    case "model.responded":
      return modelResponded(draft, input);
    case "model.failed":
      return modelFailed(draft, input);
    case "model.began":
      if (draft.state.turn?.phase !== "model" || draft.turn.spoke) return;
      return draft.emit({ public: false, type: "output.began", data: {} });
    case "compaction.finished":
      if (draft.state.compaction === undefined) return;
      finishCompaction(draft, input);
      return resumeAfterCompaction(draft);
    case "compaction.failed":
      return failCompaction(draft, input.message);
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
  const { nodeId, agentName, origin, initiator, fork } = input;
  const { sessionId, now, sessionTimeoutMs } = draft.around;
  const expires = sessionTimeoutMs === undefined ? {} : { expiresAt: now + sessionTimeoutMs };
  draft.emit({
    public: false,
    type: "session.opened",
    data: { sessionId, nodeId, agentName, origin, initiator, ...expires, ...(fork === undefined ? {} : { fork }) },
  });
  if (input.first !== undefined) deliver(draft, input.first);
}

function deliver(draft: Draft, delivery: Delivery): void {
  if (draft.state.ended) return refuseDelivery(draft, delivery);
  draft.emit({ public: false, type: "delivery.queued", data: { delivery } });
  if (draft.state.turn === undefined) return startNextTurn(draft);
  if (!isSteered(draft.state)) return;
  const { phase, spoke } = draft.turn;
  // A held turn has no step that would come to a boundary.
  if (phase === "tasks") beginStep(draft);
  if (phase === "model" && !spoke) steerStep(draft);
}

/** At once between two turns, else behind the one under way. */
function control(draft: Draft, kind: Control): void {
  if (draft.state.ended) return;
  queueControl(draft, kind);
  if (draft.state.turn === undefined) goOn(draft);
}

/** The turn is asked with the history it has; a provider that can not take it says so. */
function failCompaction(draft: Draft, message: string): void {
  if (draft.state.compaction === undefined) return;
  draft.emit({ public: false, type: "compaction.failed", data: { message } });
  resumeAfterCompaction(draft);
}

function resumeAfterCompaction(draft: Draft): void {
  if (draft.state.turn !== undefined) return beginStep(draft);
  sayWaiting(draft);
  goOn(draft);
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
    case "compact":
      return failCompaction(draft, message);
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
  if (effect?.kind === "model") restartStep(draft);
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
