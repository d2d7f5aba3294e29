import { goOn, sayWaiting } from "./between-turns.ts";
import { inTurn, type Draft } from "./draft.ts";
import { replyToOrigin } from "./reply.ts";
import type { ReplyTo } from "./state.ts";
import { showResults } from "./step.ts";
import { stopTasks } from "./tasks.ts";

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
