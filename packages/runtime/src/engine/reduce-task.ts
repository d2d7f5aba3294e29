import type { EventData } from "../protocol/events.ts";
import type { Entry } from "./entry.ts";
import type { SessionState, Task, TaskCall } from "./state.ts";

type TaskEntry = Extract<
  Entry,
  { type: "task.started" | "agent.started" | "task.settled" | "call.sent" | "call.dropped" | "call.read" }
>;

/** The one writer of the task table: what an entry makes of it (§6.2). */
export function reduceTask(state: SessionState, entry: TaskEntry): SessionState["tasks"] {
  const { taskId } = entry.data;
  if (taskId === undefined) return state.tasks;
  const task = state.tasks[taskId];
  if (task === undefined && entry.type !== "task.started") return state.tasks;
  return { ...state.tasks, [taskId]: next(state, task, entry) };
}

function next(state: SessionState, task: Task | undefined, entry: TaskEntry): Task {
  if (entry.type === "task.started") return start(state, task, entry);
  const known = task!;
  switch (entry.type) {
    case "agent.started":
      return { ...known, childSessionId: entry.data.sessionId, openedBy: entry.data.callId };
    case "call.sent": {
      const position = known.accepted ?? 0;
      const waiting = known.waiting
        .filter((call) => !(call.callId === entry.data.callId && call.abandoned))
        .map((call) =>
          call.callId === entry.data.callId
            ? { ...call, sent: true, deliveryId: entry.data.deliveryId, position }
            : call,
        );
      const childSessionId = known.childSessionId ?? entry.data.remoteSessionId;
      return { ...known, childSessionId, waiting, accepted: position + 1 };
    }
    case "call.dropped":
      return { ...known, waiting: known.waiting.filter((call) => call.callId !== entry.data.callId) };
    case "call.read":
      return {
        ...known,
        waiting: known.waiting.map((call) =>
          entry.data.callIds.includes(call.callId) ? { ...call, read: true, reply: entry.data.reply } : call,
        ),
      };
    case "task.settled":
      return settle(known, entry);
  }
}

function start(state: SessionState, task: Task | undefined, entry: Extract<TaskEntry, { type: "task.started" }>): Task {
  const { callId, turnId, taskId, name } = entry.data;
  const { message, nodeId, remote, limits } = entry.inner!;
  const call: TaskCall = {
    callId,
    turnId,
    message,
    principal: state.turn!.principal,
    ...(limits === undefined ? {} : { limits }),
    sent: remote === undefined,
    abandoned: false,
    read: false,
  };
  return {
    ...(task ?? {
      taskId,
      tool: name,
      ...(nodeId === undefined ? {} : { nodeId }),
      ...(remote === undefined ? {} : { remote }),
    }),
    status: "working",
    waiting: [...(task?.waiting ?? []), call],
    used: state.taskUses,
  };
}

function settle(task: Task, { data, inner }: Extract<TaskEntry, { type: "task.settled" }>): Task {
  const waiting = task.waiting.flatMap((call) => {
    if (call.callId !== data.callId) return [call];
    return call.sent ? [] : [{ ...call, abandoned: true }];
  });
  if (task.status !== "working" || waiting.some((call) => !call.abandoned)) return { ...task, waiting };
  return { ...task, waiting, status: data.status === "failed" && inner?.overdue !== true ? "ended" : "idle" };
}

/** What the model reads of a settled call. */
export function settledText(data: EventData<"task.settled">): string {
  if (data.status === "failed") return data.error?.message ?? "The agent failed.";
  if (data.status === "cancelled") return "The work was cancelled.";
  return typeof data.output === "string" ? data.output : JSON.stringify(data.output ?? null);
}
