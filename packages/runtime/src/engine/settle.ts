import type { Draft } from "./draft.ts";
import type { ChildSettledInput, EffectInput } from "./input.ts";
import type { Task } from "./state.ts";
import { emitSettled, tellRemote } from "./tasks.ts";
import { beginStep } from "./turn.ts";

/** A child's turn ended. One reply settles all calls of its task, once the child has read all of them (§6.3). */
export function settleCalls(draft: Draft, settled: Omit<ChildSettledInput, "kind">): void {
  const found = Object.values(draft.state.tasks).find((task) =>
    task.waiting.some((call) => !call.abandoned && settled.callIds.includes(call.callId)),
  );
  if (found === undefined) return;
  if (settled.remote !== undefined) acceptEarly(draft, found, settled.callIds, settled.remote);
  draft.emit({
    public: false,
    type: "call.read",
    data: { taskId: found.taskId, callIds: [...settled.callIds] },
  });
  const task = draft.state.tasks[found.taskId]!;
  const open = task.waiting.filter((call) => !call.abandoned);
  if (settled.status === "completed" && open.some((call) => !call.read)) return;
  open.forEach((call, index) => emitSettled(draft, task, call, settled, index === 0));
  if (draft.state.turn?.phase === "tasks") beginStep(draft);
}

/** The remote took a message: its session is known, and cancelled at once if nobody waits for it any more. */
export function remoteAccepted(draft: Draft, input: Omit<Extract<EffectInput, { kind: "remote.accepted" }>, "kind">): void {
  const { taskId, callId, remoteSessionId, deliveryId } = input;
  const task = draft.state.tasks[taskId];
  const call = task?.waiting.find((candidate) => candidate.callId === callId);
  if (task === undefined || call === undefined) return;
  if (task.childSessionId === undefined) {
    const { base, sessionId } = draft.around;
    const path = [callId, remoteSessionId].map(encodeURIComponent).join("/");
    draft.emit({
      public: true,
      type: "agent.started",
      data: {
        callId,
        turnId: call.turnId,
        taskId,
        name: task.tool,
        sessionId: remoteSessionId,
        streamPath: `${base}/session/${sessionId}/subagents/${path}/stream`,
        remote: { url: input.url, resolverId: task.remote!.source },
      },
    });
  }
  draft.emit({ public: false, type: "call.sent", data: { taskId, callId, remoteSessionId, deliveryId } });
  if (call.abandoned) tellRemote(draft, draft.state.tasks[taskId]!, draft.state.ended ? "reset" : "cancel");
}

/** The reply overtook the answer to its request: what that answer would have said is known from the reply. */
function acceptEarly(
  draft: Draft,
  { taskId, waiting }: Task,
  callIds: readonly string[],
  { sessionId, url }: NonNullable<ChildSettledInput["remote"]>,
): void {
  for (const { callId, sent } of waiting) {
    if (sent || !callIds.includes(callId)) continue;
    remoteAccepted(draft, { taskId, callId, remoteSessionId: sessionId, deliveryId: undefined, url });
  }
}
