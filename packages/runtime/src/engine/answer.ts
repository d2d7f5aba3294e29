import { inStep, type Draft } from "./draft.ts";
import type { ResolvedCall } from "./input.ts";
import type { Task } from "./state.ts";

/** Writes the result of a call that needs no effect. */
export function answer(
  draft: Draft,
  call: Pick<ResolvedCall, "callId" | "name">,
  status: "completed" | "failed",
  output: string,
): void {
  draft.emit({
    public: true,
    type: "action.result",
    data: {
      ...inStep(draft),
      result: { callId: call.callId, kind: "tool-result", toolName: call.name, output },
      status,
    },
  });
}

/** Tasks that hold the turn. */
export function working(draft: Draft): Task[] {
  return Object.values(draft.state.tasks).filter((task) => task.status === "working");
}
