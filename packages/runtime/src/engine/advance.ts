import { control, resumeAfterCompaction } from "./between-turns.ts";
import { finishCompaction } from "./compact.ts";
import { decide } from "./decide.ts";
import { createDraft, type Draft } from "./draft.ts";
import { endSession, expireSession, refuseDelivery } from "./end-session.ts";
import { cancelTurn, failTurn } from "./end-turn.ts";
import { withoutContext } from "./history.ts";
import type { Advance, Input, MailInput, OpenInput, Surroundings } from "./input.ts";
import { modelBegan, modelFailed, modelResponded } from "./respond.ts";
import { overdueCall, remoteAccepted, remoteFailed, settleCalls } from "./settle.ts";
import { effectFailed, failCompaction, interrupted, settleTool } from "./settle-effect.ts";
import { startNextTurn } from "./start-turn.ts";
import type { Delivery, SessionState } from "./state.ts";
import { isSteered } from "./steering.ts";
import { beginStep, restartStep } from "./step.ts";
import { followWaits } from "./wait.ts";

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
    case "retry":
      return control(draft, input);
    case "call.overdue":
      return overdueCall(draft, input);
    case "child.settled":
      return settleCalls(draft, input);
    case "model.responded":
      return modelResponded(draft, input);
    case "model.failed":
      return modelFailed(draft, input);
    case "model.began":
      return modelBegan(draft);
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
      followWaits(draft);
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
    data: { sessionId, nodeId, agentName, origin, initiator, ...expires, ...toFork(fork) },
  });
  if (input.first !== undefined) deliver(draft, input.first);
}

/** What belonged to a turn of the other session is no part of this one. */
function toFork(fork: OpenInput["fork"]): Pick<OpenInput, "fork"> {
  return fork === undefined ? {} : { fork: { ...fork, history: fork.history.map(withoutContext) } };
}

function deliver(draft: Draft, delivery: Delivery): void {
  if (draft.state.ended) return refuseDelivery(draft, delivery);
  draft.emit({ public: false, type: "delivery.queued", data: { delivery } });
  if (draft.state.turn === undefined) return startNextTurn(draft);
  if (!isSteered(draft.state)) return;
  const { phase, spoke } = draft.turn;
  // A held turn has no step that would come to a boundary.
  if (phase === "tasks") beginStep(draft);
  if (phase === "model" && !spoke) restartStep(draft);
  followWaits(draft);
}

function mailRejected(draft: Draft, mail: MailInput): void {
  const error = { code: "INTERNAL", message: "A message to the session could not be processed." };
  if (mail.kind === "deliver") refuseDelivery(draft, mail.delivery, error);
  if (draft.state.turn !== undefined) failTurn(draft, error);
}
