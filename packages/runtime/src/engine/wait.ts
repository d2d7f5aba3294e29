import { answer, working } from "./answer.ts";
import type { Draft } from "./draft.ts";
import type { ResolvedCall } from "./input.ts";
import type { PendingWait } from "./state.ts";
import { isSteered } from "./steering.ts";
import { resumeAfterCalls } from "./step.ts";
import { waitEnded, type WaitEnd } from "./text.ts";

type WaitCall = ResolvedCall & { readonly target: Extract<ResolvedCall["target"], { kind: "wait" }> };

/** Parks the step until a task has a result, a message comes or the time is up (§6.8). */
export function beginWait(draft: Draft, { callId, name, target: { timeoutMs } }: WaitCall): void {
  const until = timeoutMs === undefined ? {} : { until: draft.around.now + timeoutMs };
  draft.emit({ public: false, type: "wait.begun", data: { wait: { callId, toolName: name, ...until } } });
}

/** Ends the waits that have what they wait for, and goes on when nothing else is open. */
export function followWaits(draft: Draft): void {
  if (draft.state.turn?.phase !== "calls") return;
  for (const wait of draft.turn.waits) {
    const end = endOf(draft, wait);
    if (end !== undefined) answer(draft, { callId: wait.callId, name: wait.toolName }, "completed", waitEnded(end));
  }
  resumeAfterCalls(draft);
}

function endOf(draft: Draft, { until }: PendingWait): WaitEnd | undefined {
  if (draft.turn.results.length > 0) return "result";
  if (working(draft).length === 0) return "idle";
  if (isSteered(draft.state)) return "message";
  return until !== undefined && draft.around.now >= until ? "time" : undefined;
}
