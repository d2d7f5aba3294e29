import { answer, working } from "./answer.ts";
import { beingSent } from "./decide.ts";
import type { Draft } from "./draft.ts";
import type { ChildSettledInput, ResolvedCall, Surroundings } from "./input.ts";
import type { CallLimits, Outgoing, Task, TaskCall } from "./state.ts";
import {
  continuedReceipt,
  idleTask,
  joinedReceipt,
  nothingToStop,
  startedReceipt,
  stoppedTask,
  tooManyTasks,
  unknownTask,
  wrapDelegation,
} from "./text.ts";

const MAX_WORKING_TASKS = 32;

type AgentCall = ResolvedCall & {
  readonly target: Extract<ResolvedCall["target"], { kind: "local" | "remote" }>;
};
type CancelReason = "task_cancel" | "turn_cancelled" | "turn_ended";

/** Answers one call of an agent tool: a receipt and a task, or the reason why not (§5.3, §6.3). */
export function callAgent(draft: Draft, call: AgentCall): void {
  const { message, taskId } = call.input as { message: string; taskId?: string };
  const task = taskId ? findTask(draft, taskId) : undefined;
  if (taskId && (task === undefined || task.status === "ended" || task.tool !== call.name)) {
    return answer(draft, call, "failed", unknownTask(taskId, call.name));
  }
  if (task?.status !== "working" && working(draft).length >= MAX_WORKING_TASKS) {
    return answer(draft, call, "failed", tooManyTasks(MAX_WORKING_TASKS));
  }
  const id = task?.taskId ?? freshTaskId(draft, call.name);
  draft.emit({
    public: true,
    type: "task.started",
    data: { taskId: id, callId: call.callId, turnId: draft.turn.turnId, name: call.name, kind: "agent" },
    inner: {
      message,
      ...(call.target.kind === "local" ? { nodeId: call.target.nodeId } : { remote: call.target.remote }),
      ...toLimits(draft.around),
    },
  });
  answer(draft, call, "completed", receiptOf(task, id, call.name));
  if (call.target.kind === "local") sendToChild(draft, call, id, call.target.nodeId);
}

type StopCall = ResolvedCall & { readonly target: Extract<ResolvedCall["target"], { kind: "stop" }> };

/** Answers `eve__task_cancel`: the current work of a task stops, its conversation stays (§6.4, §6.8). */
export function stopTask(draft: Draft, call: StopCall): void {
  const { taskId } = call.target;
  const task = findTask(draft, taskId);
  if (task === undefined) return answer(draft, call, "failed", nothingToStop(taskId));
  if (task.status !== "working") return answer(draft, call, "completed", idleTask(taskId));
  cancelCalls(draft, task, "task_cancel");
  stopChild(draft, task);
  answer(draft, call, "completed", stoppedTask(taskId));
}

/** An id is a model's word: `constructor` names no task. */
function findTask({ state: { tasks } }: Draft, taskId: string): Task | undefined {
  return Object.hasOwn(tasks, taskId) ? tasks[taskId] : undefined;
}

function receiptOf(task: Task | undefined, taskId: string, tool: string): string {
  if (task === undefined) return startedReceipt(taskId, tool);
  return task.status === "working" ? joinedReceipt(taskId) : continuedReceipt(taskId);
}

function toLimits({ now, taskLimits }: Surroundings): { limits?: CallLimits } {
  if (taskLimits === undefined) return {};
  const { timeoutMs, silenceMs } = taskLimits;
  return {
    limits: {
      ...(timeoutMs === undefined ? {} : { deadline: now + timeoutMs }),
      ...(silenceMs === undefined ? {} : { silenceMs }),
    },
  };
}

/** Settles every working task as cancelled and stops its child, here or elsewhere (§6.4). */
export function stopTasks(draft: Draft, reason: CancelReason): void {
  for (const task of working(draft)) {
    cancelCalls(draft, task, reason);
    stopChild(draft, task);
  }
}

function cancelCalls(draft: Draft, task: Task, reason: CancelReason): void {
  for (const call of task.waiting) {
    if (!call.abandoned) emitSettled(draft, task, call, { status: "cancelled", reason }, false);
  }
}

/** Stops the work of a task that nobody waits for any more. */
export function stopChild(draft: Draft, task: Task): void {
  if (task.remote !== undefined) tellRemote(draft, task, "cancel");
  else tellChild(draft, task, "cancel");
}

/** The session ends: local children are reset, remote ones asked to (§16). */
export function endTasks(draft: Draft): void {
  for (const task of Object.values(draft.state.tasks)) {
    if (task.remote !== undefined) tellRemote(draft, task, "reset");
    else tellChild(draft, task, "reset");
  }
}

function sendToChild(draft: Draft, call: AgentCall, taskId: string, nodeId: string): void {
  const { around, turn, state } = draft;
  const message = (call.input as { message: string }).message;
  const delivery = {
    deliveryId: `call:${state.sessionId}:${turn.turnId}:${call.callId}`,
    parts: [{ type: "text" as const, text: wrapDelegation(message) }],
    principal: turn.principal,
    policy: "steer" as const,
    replyTo: { kind: "local" as const, callId: call.callId },
  };
  const child = state.tasks[taskId]!.childSessionId;
  if (child !== undefined) {
    draft.post({ sessionId: child, id: delivery.deliveryId, input: { kind: "deliver", delivery } });
    return;
  }
  const sessionId = around.newSessionId();
  draft.emit({
    public: true,
    type: "agent.started",
    data: {
      callId: call.callId,
      turnId: turn.turnId,
      taskId,
      name: call.name,
      sessionId,
      streamPath: `${around.base}/session/${sessionId}/stream`,
    },
  });
  draft.post({
    sessionId,
    id: "open",
    input: {
      kind: "open",
      nodeId,
      agentName: call.name,
      origin: { kind: "local", parentSessionId: state.sessionId, taskId },
      initiator: state.initiator,
      first: delivery,
    },
  });
}

/** Emits the one settle of a call (§6.10). */
export function emitSettled(
  draft: Draft,
  task: Task,
  call: TaskCall,
  settled: Omit<ChildSettledInput, "kind" | "callIds"> & { reason?: CancelReason; overdue?: boolean },
  show: boolean,
): void {
  const { status, output, error, reason = "turn_cancelled", overdue = false } = settled;
  const { taskId } = task;
  const current = draft.state.tasks[taskId]!;
  const waits = current.waiting.some(({ callId, sent }) => callId === call.callId && !sent);
  if (waits && beingSent(draft.state, current)?.callId !== call.callId) {
    draft.emit({ public: false, type: "call.dropped", data: { taskId, callId: call.callId } });
  }
  draft.emit({
    public: true,
    type: "task.settled",
    data: {
      taskId,
      callId: call.callId,
      turnId: call.turnId,
      name: task.tool,
      kind: "agent",
      status,
      ...(status === "completed" ? { output } : {}),
      ...(status === "failed" ? { error: error ?? { message: "The agent failed." } } : {}),
      ...(status === "cancelled" ? { cancel: { reason } } : {}),
    },
    inner: { show, ...(overdue ? { overdue } : {}) },
  });
}

function tellChild(draft: Draft, task: Task, kind: "cancel" | "reset"): void {
  if (task.childSessionId === undefined) return;
  const id = `${kind}:${draft.state.sessionId}:${draft.state.taskUses}`;
  draft.post({ sessionId: task.childSessionId, id, input: { kind } });
}

/** Queues a request that stops a task's work, or ends its session, at the remote. */
export function tellRemote(draft: Draft, task: Task, kind: "cancel" | "reset"): void {
  if (task.childSessionId === undefined || task.remote === undefined) return;
  const outgoing: Outgoing = {
    id: `${kind}:${task.taskId}:${draft.state.taskUses}`,
    kind,
    remote: task.remote,
    remoteSessionId: task.childSessionId,
    principal: draft.state.turn?.principal ?? draft.state.initiator,
  };
  if (draft.state.outbox.some((queued) => queued.id === outgoing.id)) return;
  draft.emit({ public: false, type: "outgoing.queued", data: { outgoing } });
}

function freshTaskId(draft: Draft, tool: string): string {
  for (;;) {
    const taskId = `${tool}-${draft.around.random(6)}`;
    if (draft.state.tasks[taskId] === undefined) return taskId;
  }
}
