import type { Usage } from "../protocol/events.ts";
import { addUsage, NO_USAGE, type Entry } from "./entry.ts";
import { reduceTask, settledText } from "./reduce-task.ts";
import type { HistoryItem, SessionState, Turn } from "./state.ts";
import { droppedFile } from "./text.ts";

/** Folds one entry of the log into the state of a session. Pure: the same log always gives the same state. */
export function reduce(state: SessionState | undefined, entry: Entry): SessionState {
  if (entry.type === "session.opened") {
    const { sessionId, nodeId, agentName, origin, initiator } = entry.data;
    return {
      format: 1,
      sessionId,
      nodeId,
      agentName,
      origin,
      initiator,
      started: false,
      ended: false,
      nextSequence: 0,
      turn: undefined,
      queue: [],
      history: [],
      tasks: {},
      taskUses: 0,
      outbox: [],
      usage: NO_USAGE,
      notedTasks: "",
    };
  }
  if (state === undefined) throw new Error(`The log of a session starts with ${entry.type}, not session.opened.`);
  return reduceOpen(state, entry);
}

function reduceOpen(state: SessionState, entry: Exclude<Entry, { type: "session.opened" }>): SessionState {
  switch (entry.type) {
    case "session.started":
      return { ...state, started: true };
    case "delivery.queued":
      return { ...state, queue: [...state.queue, entry.data.delivery] };
    case "delivery.dropped":
      return { ...state, queue: without(state.queue, [entry.data.deliveryId]) };
    case "turn.started":
      return {
        ...state,
        nextSequence: entry.data.sequence + 1,
        turn: {
          turnId: entry.data.turnId,
          sequence: entry.data.sequence,
          principal: entry.inner!.principal,
          phase: "model",
          stepIndex: -1,
          attempt: 0,
          failures: 0,
          retryAfterMs: undefined,
          pending: {},
          results: [],
          replyTo: [],
          reply: "",
          usage: NO_USAGE,
          reissued: undefined,
        },
      };
    case "message.received": {
      const { deliveryIds, replyTo } = entry.inner!;
      const read = { ...state, queue: without(state.queue, deliveryIds) };
      const heard = append(read, { role: "user", parts: entry.data.parts });
      return replyTo === undefined ? heard : inTurn(heard, (turn) => ({ replyTo: [...turn.replyTo, replyTo] }));
    }
    case "results.shown":
      return inTurn(append(state, { role: "note", text: entry.data.text }), (turn) => ({
        results: turn.results.slice(entry.data.count),
      }));
    case "tasks.noted":
      return append({ ...state, notedTasks: entry.data.key }, { role: "note", text: entry.data.text });
    case "reply.reissued":
      return inTurn(append(state, { role: "note", text: entry.data.text }), ({ stepIndex }) => ({
        reissued: stepIndex,
      }));
    case "step.started":
      return inTurn(state, (turn) => ({
        phase: "model",
        stepIndex: entry.data.stepIndex,
        attempt: entry.data.attempt,
        // An attempt, or the request for an empty reply, has what is left of the step's provider calls (§19).
        failures: entry.data.stepIndex === turn.stepIndex || turn.reissued === turn.stepIndex ? turn.failures : 0,
      }));
    case "message.completed": {
      const stepKey = `${entry.data.turnId}/${entry.data.stepIndex}`;
      const said = append(state, { role: "assistant", stepKey, text: entry.data.message, calls: [], ...entry.inner });
      return inTurn(said, () => ({ reply: entry.data.message }));
    }
    case "actions.requested":
      return requestActions(state, entry);
    case "action.result": {
      const { callId, toolName, output } = entry.data.result;
      const answered = append(state, {
        role: "tool",
        callId,
        toolName,
        output,
        failed: entry.data.status === "failed",
      });
      return inTurn(answered, (turn) => ({ pending: omit(turn.pending, callId) }));
    }
    case "step.completed":
      return spend(state, entry.data.usage);
    case "step.failed":
      return inTurn(spend(state, entry.data.usage ?? NO_USAGE), (turn) => ({
        failures: turn.failures + 1,
        retryAfterMs: entry.inner?.retryAfterMs,
      }));
    case "turn.waiting":
      return inTurn(state, () => ({ phase: "tasks" }));
    case "turn.completed":
    case "turn.cancelled":
      return { ...state, turn: undefined };
    case "turn.failed":
      return { ...state, turn: undefined, history: withoutUnreadFiles(state.history) };
    case "session.completed":
      return { ...state, turn: undefined, queue: [], ended: true };
    case "task.settled": {
      const settled = { ...state, tasks: reduceTask(state, entry) };
      if (!entry.inner!.show) return settled;
      const { taskId, name, status } = entry.data;
      const result = { taskId, tool: name, status, text: settledText(entry.data) };
      return inTurn(settled, (turn) => ({ results: [...turn.results, result] }));
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
    case "call.requested":
      return inTurn(state, (turn) => ({
        phase: "calls",
        pending: { ...turn.pending, [entry.data.call.callId]: entry.data.call },
      }));
    case "call.interrupted": {
      const { callId } = entry.data;
      return inTurn(state, ({ pending }) => {
        const call = pending[callId];
        if (call === undefined) return {};
        return { pending: { ...pending, [callId]: { ...call, interruptions: (call.interruptions ?? 0) + 1 } } };
      });
    }
    case "message.appended":
    case "reasoning.appended":
    case "reasoning.completed":
    case "session.waiting":
      return state;
  }
}

function requestActions(
  state: SessionState,
  { data, inner }: Extract<Entry, { type: "actions.requested" }>,
): SessionState {
  const stepKey = `${data.turnId}/${data.stepIndex}`;
  const calls = data.actions.map((action) => ({
    callId: action.callId,
    toolName: action.toolName ?? action.subagentName ?? action.remoteAgentName ?? "",
    input: action.input,
  }));
  const last = state.history.at(-1);
  const said =
    last?.role === "assistant" && last.stepKey === stepKey
      ? { ...state, history: [...state.history.slice(0, -1), { ...last, calls, ...inner }] }
      : append(state, { role: "assistant", stepKey, text: "", calls, ...inner });
  return inTurn(said, () => ({ phase: "calls", reply: "" }));
}

/** A file that the model never answered to may be why the turn failed: it must not fail every later turn, too. */
function withoutUnreadFiles(history: SessionState["history"]): SessionState["history"] {
  const answered = history.findLastIndex(({ role }) => role === "assistant");
  return history.map((item, index) => {
    if (index <= answered || item.role !== "user" || item.parts.every(({ type }) => type === "text")) return item;
    const parts = item.parts.map((part) =>
      part.type === "text" ? part : { type: "text" as const, text: droppedFile(part.filename ?? part.mediaType) },
    );
    return { ...item, parts };
  });
}

function append(state: SessionState, item: HistoryItem): SessionState {
  return { ...state, history: [...state.history, item] };
}

function spend(state: SessionState, usage: Usage): SessionState {
  return inTurn({ ...state, usage: addUsage(state.usage, usage) }, (turn) => ({ usage: addUsage(turn.usage, usage) }));
}

function inTurn(state: SessionState, change: (turn: Turn) => Partial<Turn>): SessionState {
  return state.turn === undefined ? state : { ...state, turn: { ...state.turn, ...change(state.turn) } };
}

function without(queue: SessionState["queue"], deliveryIds: readonly string[]): SessionState["queue"] {
  return queue.filter((delivery) => !deliveryIds.includes(delivery.deliveryId));
}

function omit<T>(record: Readonly<Record<string, T>>, key: string): Readonly<Record<string, T>> {
  const { [key]: _, ...rest } = record;
  return rest;
}
