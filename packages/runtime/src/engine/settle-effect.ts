import { resumeAfterCompaction } from "./between-turns.ts";
import { decide, type Effect } from "./decide.ts";
import { inStep, type Draft } from "./draft.ts";
import type { EffectInput } from "./input.ts";
import { modelFailed } from "./respond.ts";
import { remoteFailed } from "./settle.ts";
import type { PendingCall } from "./state.ts";
import { restartStep, resumeAfterCalls } from "./step.ts";
import { abandonedTool, failedTool, interruptedTool } from "./text.ts";

/** Runs of a tool that a crash may stop before it counts as failed (§21). */
const MAX_INTERRUPTIONS = 3;

/** Writes the result of a tool's run. */
export function settleTool(draft: Draft, callId: string, status: "completed" | "failed", output: unknown): void {
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

/** The turn is asked with the history it has; a provider that can not take it says so. */
export function failCompaction(draft: Draft, message: string): void {
  if (draft.state.compaction === undefined) return;
  draft.emit({ public: false, type: "compaction.failed", data: { message } });
  resumeAfterCompaction(draft);
}

/** An effect that could not be run ends as a failed one of its kind, so that nobody waits for it. */
export function effectFailed(
  draft: Draft,
  { effectId, message }: Extract<EffectInput, { kind: "effect.failed" }>,
): void {
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
    case "limit":
      // Nobody watches over the call any more: better no end of it than one at a time that nobody set.
      return;
    case "outgoing":
      return draft.emit({ public: false, type: "outgoing.done", data: { id: effect.outgoing.id } });
  }
}

/** A crash stopped an effect: a model call is announced anew, a tool asks its `onInterrupt` (§19, §21). */
export function interrupted(draft: Draft, effectId: string): void {
  const effect = findEffect(draft, effectId);
  if (effect?.kind === "model") restartStep(draft);
  if (effect?.kind === "tool") interruptedCall(draft, effect.call);
}

function findEffect(draft: Draft, effectId: string): Effect | undefined {
  return decide(draft.state).find(({ id }) => id === effectId);
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
