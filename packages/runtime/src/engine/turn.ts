import { compactForStep, isTooLong, runControls } from "./compact.ts";
import { inTurn, type Draft } from "./draft.ts";
import { NO_USAGE, textOf } from "./entry.ts";
import { replyToOrigin } from "./reply.ts";
import type { Principal } from "../protocol/principal.ts";
import { noteTasks } from "./note.ts";
import type { Delivery, ReplyTo } from "./state.ts";
import { isSteered } from "./steering.ts";
import { endTasks, stopTasks } from "./tasks.ts";
import { taskResultMessage } from "./text.ts";

/** Starts the turn of the oldest message that waits; messages of the same caller right behind it join. */
export function startNextTurn(draft: Draft): void {
  const first = draft.state.queue[0];
  if (first === undefined || draft.state.ended || draft.state.compaction !== undefined) return;
  startTurn(draft, first.principal, {});
  receive(draft, first);
  receiveSteering(draft);
  beginStep(draft);
}

/** Does the last turn again, with all that it had been told (§16). What has been said since has taken its place. */
export function retryTurn(draft: Draft, turnId: string, principal: Principal): void {
  const { turn, failed, ended, compaction } = draft.state;
  if (ended || turn !== undefined || compaction !== undefined || failed?.turnId !== turnId) return;
  startTurn(draft, principal, { retryOf: turnId });
  beginStep(draft);
}

function startTurn(draft: Draft, principal: Principal, again: { readonly retryOf?: string }): void {
  const { around, state } = draft;
  if (!state.started) {
    draft.emit({
      public: true,
      type: "session.started",
      data: {
        runtime: { agentId: state.nodeId, agentName: state.agentName, eveVersion: around.eveVersion },
        ...(state.forkedFrom === undefined ? {} : { predecessor: state.forkedFrom }),
      },
    });
  }
  const sequence = state.nextSequence;
  draft.emit({
    public: true,
    type: "turn.started",
    data: { turnId: `turn_${sequence}`, sequence, ...again },
    inner: { principal },
  });
}

/** Folds what arrived since the last step and asks the model again, with a shorter history if that got too long. */
export function beginStep(draft: Draft): void {
  receiveSteering(draft);
  showResults(draft);
  if (isTooLong(draft)) return compactForStep(draft);
  noteTasks(draft);
  announceStep(draft, draft.turn.stepIndex + 1, 1);
}

/** Asks the model again for the step under way: another attempt, which what it said before is no part of. */
export function restartStep(draft: Draft): void {
  announceStep(draft, draft.turn.stepIndex, draft.turn.attempt + 1);
}

/** A message that came before any answer is part of what is answered (§16). */
export function steerStep(draft: Draft): void {
  receiveSteering(draft);
  restartStep(draft);
}

function announceStep(draft: Draft, stepIndex: number, attempt: number): void {
  const { modelId } = draft.around;
  draft.emit({ public: true, type: "step.started", data: { ...inTurn(draft), stepIndex, modelId, attempt } });
}

/** Goes on to the next step once no tool call of this one is open. */
export function resumeAfterCalls(draft: Draft): void {
  const { phase, pending } = draft.turn;
  if (phase === "calls" && Object.keys(pending).length === 0) beginStep(draft);
}

/** Parks the turn until a task settles (§6.6). */
export function holdTurn(draft: Draft): void {
  draft.emit({
    public: true,
    type: "turn.waiting",
    data: { ...inTurn(draft), on: "tasks", usage: draft.state.usage },
  });
}

export function completeTurn(draft: Draft): void {
  const { turn } = draft;
  draft.emit({ public: true, type: "turn.completed", data: inTurn(draft) });
  const output = turn.result === undefined ? turn.reply : turn.result.value;
  replyToOrigin(draft, turn, turn.replyTo, { status: "completed", output });
  waitForMessage(draft);
}

export function failTurn(draft: Draft, error: { code: string; message: string }): void {
  stopTasks(draft, "turn_ended");
  showResults(draft);
  const { turn } = draft;
  const replyTo = [...turn.replyTo, ...dropCalls(draft)];
  draft.emit({ public: true, type: "turn.failed", data: { ...inTurn(draft), ...error } });
  replyToOrigin(draft, turn, replyTo, { status: "failed", error });
  waitForMessage(draft);
}

/** Stops the turn under way and all its tasks; a `turnId` of another turn stops nothing. */
export function cancelTurn(draft: Draft, turnId: string | undefined): void {
  const { turn } = draft.state;
  if (turn === undefined || (turnId !== undefined && turnId !== turn.turnId)) return;
  stopTasks(draft, "turn_cancelled");
  showResults(draft);
  const replyTo = [...turn.replyTo, ...dropCalls(draft)];
  draft.emit({ public: true, type: "turn.cancelled", data: inTurn(draft) });
  replyToOrigin(draft, turn, replyTo, { status: "cancelled" });
  waitForMessage(draft);
}

/** Ends the session: its turn, its tasks, its children (§16). */
export function endSession(draft: Draft, reason: string | undefined): void {
  if (draft.state.ended) return;
  const { turn, usage, queue } = draft.state;
  stopTasks(draft, "turn_ended");
  endTasks(draft);
  if (turn !== undefined) draft.emit({ public: true, type: "turn.cancelled", data: inTurn(draft) });
  draft.emit({
    public: true,
    type: "session.completed",
    data: { usage, ...(reason === undefined ? {} : { reason }) },
  });
  const unread = queue.flatMap((delivery) => (delivery.replyTo === undefined ? [] : [delivery.replyTo]));
  const replyTo = [...(turn?.replyTo ?? []), ...unread];
  replyToOrigin(draft, turn ?? { turnId: "ended", usage: NO_USAGE }, replyTo, { status: "cancelled" });
}

/** Ends a session whose time is up, once nothing that it accepted is left to do (§16). */
export function expireSession(draft: Draft): void {
  const { expiresAt, turn, queue, compaction } = draft.state;
  const due = expiresAt !== undefined && draft.around.now >= expiresAt;
  const busy = turn !== undefined || compaction !== undefined || queue.length > 0;
  if (due && !busy) endSession(draft, "timeout");
}

/** Answers a call that no turn will read, because the session has ended by default: the caller must not wait. */
export function refuseDelivery(
  draft: Draft,
  { deliveryId, replyTo }: Delivery,
  error: { code: string; message: string } = {
    code: "SESSION_NOT_ACTIVE",
    message: "The agent's session has ended.",
  },
): void {
  if (replyTo === undefined) return;
  replyToOrigin(draft, { turnId: deliveryId, usage: NO_USAGE }, [replyTo], { status: "failed", error });
}

/** Results that arrived are the model's to read, in the next turn if not in this one (§6.7). */
function showResults(draft: Draft): void {
  const { results } = draft.turn;
  if (results.length === 0) return;
  const text = taskResultMessage(results);
  draft.emit({ public: false, type: "results.shown", data: { text, count: results.length } });
}

/** Calls that wait behind the turn of others of their task, which did not complete, are settled with those (§6.4). */
function dropCalls(draft: Draft): ReplyTo[] {
  if (draft.turn.replyTo.length === 0) return [];
  return draft.state.queue.flatMap(({ deliveryId, replyTo }) => {
    if (replyTo === undefined) return [];
    draft.emit({ public: false, type: "delivery.dropped", data: { deliveryId } });
    return [replyTo];
  });
}

function waitForMessage(draft: Draft): void {
  sayWaiting(draft);
  goOn(draft);
}

/** What there is to do between two turns, and then the next turn. */
export function goOn(draft: Draft): void {
  runControls(draft, () => sayWaiting(draft));
  startNextTurn(draft);
  expireSession(draft);
}

export function sayWaiting(draft: Draft): void {
  draft.emit({
    public: true,
    type: "session.waiting",
    data: {
      wait: "next-user-message",
      usage: draft.state.usage,
      continuationToken: draft.state.sessionId,
    },
  });
}

function receiveSteering(draft: Draft): void {
  while (isSteered(draft.state)) receive(draft, draft.state.queue[0]!);
}

function receive(draft: Draft, delivery: Delivery): void {
  const { deliveryId, parts, replyTo, context, outputSchema } = delivery;
  draft.emit({
    public: true,
    type: "message.received",
    data: { ...inTurn(draft), message: textOf(parts), parts: [...parts] },
    inner: {
      deliveryIds: [deliveryId],
      ...(replyTo === undefined ? {} : { replyTo }),
      ...(context === undefined ? {} : { context }),
      ...(outputSchema === undefined ? {} : { outputSchema }),
    },
  });
}
