import type { Draft } from "./draft.ts";
import type { ChildSettledInput, EffectInput } from "./input.ts";
import type { Task, TaskCall } from "./state.ts";
import { emitSettled, stopChild, tellRemote } from "./tasks.ts";
import { beginStep } from "./step.ts";
import { overdueText } from "./text.ts";
import { followWaits } from "./wait.ts";

/** A child's turn ended. One reply settles all calls of its task, once the child has read all of them (§6.3). */
export function settleCalls(draft: Draft, settled: Omit<ChildSettledInput, "kind">): void {
  const { callIds, status, output: reply } = settled;
  const found = Object.values(draft.state.tasks).find(({ waiting }) =>
    waiting.some((call) => !call.abandoned && callIds.includes(call.callId)),
  );
  if (found === undefined) return;
  const { taskId } = found;
  if (settled.remote !== undefined) acceptEarly(draft, found, callIds, settled.remote);
  if (status !== "completed") {
    const open = openCalls(draft, taskId);
    settleAll(draft, taskId, open, settled);
    // The child may have got to a later message meanwhile, which was settled with the others.
    if (open.some((call) => !callIds.includes(call.callId))) stopChild(draft, draft.state.tasks[taskId]!);
    return;
  }
  if (openCalls(draft, taskId).some((call) => !call.read && callIds.includes(call.callId))) {
    draft.emit({ public: false, type: "call.read", data: { taskId, callIds: [...callIds], reply } });
  }
  settleRead(draft, taskId);
}

/** The remote did not take a message, or has lost the session. */
export function remoteFailed(draft: Draft, input: Omit<Extract<EffectInput, { kind: "remote.failed" }>, "kind">): void {
  const { taskId, callId, code, message } = input;
  const task = draft.state.tasks[taskId];
  const call = task?.waiting.find((candidate) => candidate.callId === callId);
  if (task === undefined || call === undefined) return;
  const alone = call.abandoned || (!call.sent && task.childSessionId !== undefined);
  const failed = alone ? [call] : openCalls(draft, taskId);
  for (const dropped of failed) {
    draft.emit({ public: false, type: "call.dropped", data: { taskId, callId: dropped.callId } });
  }
  if (call.abandoned) return;
  settleAll(draft, taskId, failed, { status: "failed", error: { code, message } });
  settleRead(draft, taskId);
}

/** Settles the calls of a task with its child's last reply, if the child has read them all. */
function settleRead(draft: Draft, taskId: string): void {
  const open = openCalls(draft, taskId);
  if (open.some((call) => !call.read)) return;
  settleAll(draft, taskId, open, { status: "completed", output: open.at(-1)?.reply });
}

function settleAll(
  draft: Draft,
  taskId: string,
  calls: readonly TaskCall[],
  settled: Pick<ChildSettledInput, "status" | "output" | "error">,
): void {
  emitAll(draft, taskId, calls, settled);
  if (calls.length > 0) readResults(draft);
}

function emitAll(
  draft: Draft,
  taskId: string,
  calls: readonly TaskCall[],
  settled: Pick<ChildSettledInput, "status" | "output" | "error"> & { overdue?: boolean },
): void {
  const task = draft.state.tasks[taskId]!;
  calls.forEach((call, index) => emitSettled(draft, task, call, settled, index === 0));
}

/** A turn that was held, or waits, goes on with what has come. */
function readResults(draft: Draft): void {
  if (draft.state.turn?.phase === "tasks") return beginStep(draft);
  followWaits(draft);
}

/**
 * A call had its time: its child's turn, which is that of all calls not answered yet, is stopped, and the task can be
 * continued. What the child has answered before counts (§6.11).
 */
export function overdueCall(
  draft: Draft,
  { taskId, callId, code }: Extract<EffectInput, { kind: "call.overdue" }>,
): void {
  if (draft.state.tasks[taskId] === undefined) return;
  const open = openCalls(draft, taskId);
  const late = open.filter((call) => !call.read);
  if (!late.some((call) => call.callId === callId)) return;
  const answered = open.filter((call) => call.read);
  emitAll(draft, taskId, answered, { status: "completed", output: answered.at(-1)?.reply });
  const error = { code, message: overdueText(code, taskId) };
  emitAll(draft, taskId, late, { status: "failed", error, overdue: true });
  // Not before: a message that is on its way now must not count as one that never left.
  stopChild(draft, draft.state.tasks[taskId]!);
  readResults(draft);
}

function openCalls(draft: Draft, taskId: string): readonly TaskCall[] {
  return draft.state.tasks[taskId]!.waiting.filter((call) => !call.abandoned);
}

/** The remote took a message: its session is known, and cancelled at once if nobody waits for it any more. */
export function remoteAccepted(
  draft: Draft,
  input: Omit<Extract<EffectInput, { kind: "remote.accepted" }>, "kind">,
): void {
  const { taskId, callId, remoteSessionId, deliveryId } = input;
  const task = draft.state.tasks[taskId];
  const call = task?.waiting.find((candidate) => candidate.callId === callId);
  if (task === undefined || call === undefined || call.sent) return;
  // Nobody reads on behind the end of a session.
  if (task.childSessionId === undefined && !draft.state.ended) {
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
