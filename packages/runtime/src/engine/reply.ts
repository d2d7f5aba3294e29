import type { Usage } from "../protocol/events.ts";
import type { Draft } from "./draft.ts";
import type { ReplyTo, Turn } from "./state.ts";

export interface TurnOutcome {
  readonly status: "completed" | "failed" | "cancelled";
  readonly output?: unknown;
  readonly error?: { readonly code: string; readonly message: string };
}

/** Tells whoever waits for a turn how it ended: a local parent in this transaction, a remote one by callback. */
export function replyToOrigin(
  draft: Draft,
  { turnId, usage }: Pick<Turn, "turnId" | "usage">,
  replyTo: readonly ReplyTo[],
  outcome: TurnOutcome,
): void {
  const { sessionId, origin } = draft.state;
  const callIds = replyTo.flatMap((to) => (to.kind === "local" ? [to.callId] : []));
  if (origin.kind === "local" && callIds.length > 0) {
    draft.post({
      sessionId: origin.parentSessionId,
      id: `reply:${sessionId}:${turnId}`,
      input: { kind: "child.settled", callIds, ...outcome },
    });
  }
  for (const to of replyTo) {
    if (to.kind !== "callback") continue;
    draft.emit({
      public: false,
      type: "outgoing.queued",
      data: {
        outgoing: {
          id: `callback:${turnId}:${to.callId}`,
          kind: "callback",
          url: to.url,
          token: to.token,
          body: toCallbackBody(draft, to, outcome, usage),
        },
      },
    });
  }
}

function toCallbackBody(
  draft: Draft,
  to: Extract<ReplyTo, { kind: "callback" }>,
  { status, output, error }: TurnOutcome,
  usageDelta: Usage,
): Readonly<Record<string, unknown>> {
  const result = status === "completed" ? "succeeded" : status;
  return {
    kind: status === "completed" ? "turn.completed" : "turn.failed",
    callId: to.callId,
    sessionId: draft.state.sessionId,
    subagentName: to.subagentName,
    ...(status === "completed" ? { output } : {}),
    ...(status === "failed" ? { error } : {}),
    ...(status === "cancelled" ? { error: { code: "CANCELLED", message: "The turn was cancelled." } } : {}),
    outcome: {
      kind: draft.state.ended ? "terminal" : "parked",
      result: { kind: result, ...(status === "completed" ? { output } : {}) },
      usageDelta,
    },
  };
}
