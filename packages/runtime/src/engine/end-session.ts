import { inTurn, type Draft } from "./draft.ts";
import { NO_USAGE } from "./entry.ts";
import { replyToOrigin } from "./reply.ts";
import type { Delivery } from "./state.ts";
import { endTasks, stopTasks } from "./tasks.ts";

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
