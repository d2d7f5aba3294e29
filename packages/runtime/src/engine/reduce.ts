import { addUsage, NO_USAGE, type Entry } from "./entry.ts";
import { lengthOfAll, promptTokens } from "./prompt-length.ts";
import { append, appendCalls, forget, shorten } from "./reduce-history.ts";
import { reduceTask, settledText } from "./reduce-task.ts";
import {
  completeStep,
  countInterruption,
  endTurn,
  failStep,
  failTurn,
  inTurn,
  receiveMessage,
  startStep,
  startTurn,
  withoutDeliveries,
} from "./reduce-turn.ts";
import type { SessionState } from "./state.ts";
import { TASKS_NOTE } from "./text.ts";

/** Folds one entry of the log into the state of a session. Pure: the same log always gives the same state. */
export function reduce(state: SessionState | undefined, entry: Entry): SessionState {
  if (entry.type === "session.opened") return openSession(entry.data);
  if (state === undefined) throw new Error(`The log of a session starts with ${entry.type}, not session.opened.`);
  return reduceOpen(state, entry);
}

function openSession(opened: Extract<Entry, { type: "session.opened" }>["data"]): SessionState {
  const { sessionId, nodeId, agentName, origin, initiator, expiresAt, fork } = opened;
  const history = fork?.history ?? [];
  const notesTasks = history.some((item) => item.role === "note" && item.text.startsWith(TASKS_NOTE));
  return {
    format: 2,
    sessionId,
    nodeId,
    agentName,
    origin,
    initiator,
    started: false,
    ended: false,
    expiresAt,
    nextSequence: 0,
    turn: undefined,
    failed: undefined,
    controls: [],
    compaction: undefined,
    compactions: 0,
    prompt: { tokens: 0, characters: lengthOfAll(history) },
    forkedFrom: fork === undefined ? undefined : { sessionId: fork.sessionId, index: fork.index },
    queue: [],
    history,
    tasks: {},
    taskUses: 0,
    outbox: [],
    usage: NO_USAGE,
    // The tasks that a fork has read of are another session's: a note says that they are not here.
    notedTasks: notesTasks ? "of another session" : "",
  };
}

function reduceOpen(state: SessionState, entry: Exclude<Entry, { type: "session.opened" }>): SessionState {
  switch (entry.type) {
    case "session.started":
      return { ...state, started: true };
    case "delivery.queued":
      return { ...state, queue: [...state.queue, entry.data.delivery] };
    case "delivery.dropped":
      return { ...state, queue: withoutDeliveries(state.queue, [entry.data.deliveryId]) };
    case "turn.started":
      return startTurn(state, entry);
    case "message.received":
      return receiveMessage(state, entry);
    case "results.shown":
      return inTurn(append(state, { role: "note", text: entry.data.text }), ({ results }) => ({
        results: results.slice(entry.data.count),
      }));
    case "tasks.noted":
      return append({ ...state, notedTasks: entry.data.key }, { role: "note", text: entry.data.text });
    case "output.refused":
      return inTurn(append(state, { role: "note", text: entry.data.text }), ({ refusals }) => ({
        refusals: refusals + 1,
      }));
    case "reply.reissued":
      return inTurn(append(state, { role: "note", text: entry.data.text }), ({ stepIndex }) => ({
        reissued: stepIndex,
      }));
    case "step.started":
      return startStep(state, entry);
    case "output.began":
      return inTurn(state, () => ({ spoke: true }));
    case "message.completed": {
      const { turnId, stepIndex, message: text } = entry.data;
      const stepKey = `${turnId}/${stepIndex}`;
      const said = append(state, { role: "assistant", stepKey, text, calls: [], ...entry.inner });
      return inTurn(said, () => ({ reply: text }));
    }
    case "actions.requested":
      return inTurn(appendCalls(state, entry), () => ({ phase: "calls", reply: "" }));
    case "result.completed":
      return inTurn(state, () => ({ result: { value: entry.data.result } }));
    case "action.result": {
      const { result, status } = entry.data;
      const { callId, toolName, output } = result;
      const answered = append(state, { role: "tool", callId, toolName, output, failed: status === "failed" });
      return inTurn(answered, ({ pending, waits }) => ({
        pending: omit(pending, callId),
        waits: waits.filter((wait) => wait.callId !== callId),
      }));
    }
    case "step.completed":
      return completeStep(state, entry);
    case "step.failed":
      return failStep(state, entry);
    case "call.requested": {
      const { call } = entry.data;
      return inTurn(state, ({ pending }) => ({ phase: "calls", pending: { ...pending, [call.callId]: call } }));
    }
    case "wait.begun":
      return inTurn(state, ({ waits }) => ({ phase: "calls", waits: [...waits, entry.data.wait] }));
    case "call.interrupted":
      return countInterruption(state, entry.data.callId);
    case "turn.waiting":
      return inTurn(state, () => ({ phase: "tasks" }));
    case "turn.completed":
    case "turn.cancelled":
      return endTurn(state);
    case "turn.failed":
      return failTurn(state);
    case "session.completed":
      return { ...endTurn(state), queue: [], controls: [], ended: true };
    case "control.queued":
      return { ...state, controls: [...state.controls, entry.data.control] };
    case "control.taken":
      return { ...state, controls: state.controls.slice(1) };
    case "compaction.requested": {
      const { usageInputTokens } = entry.data;
      const compaction = { kept: entry.inner!.kept, usageInputTokens };
      const asked = { ...state, compaction, compactions: state.compactions + 1 };
      return inTurn(asked, () => ({ phase: "compact", compactedAt: usageInputTokens }));
    }
    case "compaction.completed": {
      const shorter = shorten(state, entry.inner!);
      return inTurn(shorter, ({ usage }) => ({
        usage: addUsage(usage, entry.inner!.usage),
        compactedAt: promptTokens(shorter),
      }));
    }
    case "compaction.failed":
      return { ...state, compaction: undefined };
    case "context.cleared":
      return { ...forget(state, []), failed: undefined, compactions: state.compactions + 1 };
    case "task.settled": {
      const settled = { ...state, tasks: reduceTask(state, entry) };
      if (!entry.inner!.show) return settled;
      const { taskId, name, status } = entry.data;
      const result = { taskId, tool: name, status, text: settledText(entry.data) };
      return inTurn(settled, ({ results }) => ({ results: [...results, result] }));
    }
    case "task.started":
    case "agent.started":
    case "call.sent":
    case "call.dropped":
    case "call.read":
      return { ...state, tasks: reduceTask(state, entry), taskUses: state.taskUses + 1 };
    case "outgoing.queued":
      return { ...state, outbox: [...state.outbox, entry.data.outgoing] };
    case "outgoing.done":
      return { ...state, outbox: state.outbox.filter((outgoing) => outgoing.id !== entry.data.id) };
    case "message.appended":
    case "reasoning.appended":
    case "reasoning.completed":
    case "session.waiting":
      return state;
  }
}

function omit<T>(record: Readonly<Record<string, T>>, key: string): Readonly<Record<string, T>> {
  const { [key]: _, ...rest } = record;
  return rest;
}
