import { inTurn, type Draft } from "./draft.ts";
import { NO_USAGE, textOf } from "./entry.ts";
import { replyToOrigin } from "./reply.ts";
import type { Delivery, ReplyTo } from "./state.ts";
import { noteTasks } from "./note.ts";
import { endTasks, stopTasks } from "./tasks.ts";
import { taskResultMessage } from "./text.ts";

/** Starts the turn of the oldest message that waits; messages of the same caller right behind it join. */
export function startNextTurn(draft: Draft): void {
  const first = draft.state.queue[0];
  if (first === undefined || draft.state.ended) return;
  const { around, state } = draft;
  if (!state.started) {
    draft.emit({
      public: true,
      type: "session.started",
      data: {
        runtime: { agentId: state.nodeId, agentName: state.agentName, eveVersion: around.eveVersion },
      },
    });
  }
  const sequence = state.nextSequence;
  draft.emit({
    public: true,
    type: "turn.started",
    data: { turnId: `turn_${sequence}`, sequence },
    inner: { principal: first.principal },
  });
  receive(draft, first);
  receiveSteering(draft);
  beginStep(draft);
}

/** True while a message waits that the turn under way may read: only its own caller steers (§16). */
export function isSteered(draft: Draft): boolean {
  const next = draft.state.queue[0];
  return next !== undefined && next.policy === "steer" && sameCaller(next, draft);
}

/** Folds what arrived since the last step and asks the model again. */
export function beginStep(draft: Draft): void {
  receiveSteering(draft);
  showResults(draft);
  noteTasks(draft);
  draft.emit({
    public: true,
    type: "step.started",
    data: {
      ...inTurn(draft),
      stepIndex: draft.turn.stepIndex + 1,
      modelId: draft.around.modelId,
      attempt: 1,
    },
  });
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
  replyToOrigin(draft, turn, turn.replyTo, { status: "completed", output: turn.reply });
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
  const { expiresAt, turn, queue } = draft.state;
  const due = expiresAt !== undefined && draft.around.now >= expiresAt;
  if (due && turn === undefined && queue.length === 0) endSession(draft, "timeout");
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
  draft.emit({
    public: true,
    type: "session.waiting",
    data: {
      wait: "next-user-message",
      usage: draft.state.usage,
      continuationToken: draft.state.sessionId,
    },
  });
  startNextTurn(draft);
  expireSession(draft);
}

function receiveSteering(draft: Draft): void {
  while (isSteered(draft)) receive(draft, draft.state.queue[0]!);
}

function receive(draft: Draft, delivery: Delivery): void {
  const { deliveryId, parts, replyTo } = delivery;
  draft.emit({
    public: true,
    type: "message.received",
    data: { ...inTurn(draft), message: textOf(parts), parts: [...parts] },
    inner: { deliveryIds: [deliveryId], ...(replyTo === undefined ? {} : { replyTo }) },
  });
}

function sameCaller({ principal }: Delivery, draft: Draft): boolean {
  const caller = draft.turn.principal;
  return principal.authenticator === caller.authenticator && principal.principalId === caller.principalId;
}
