import type { Usage } from "../protocol/events.ts";
import { addUsage, NO_USAGE, type Entry } from "./entry.ts";
import { lengthOf } from "./prompt-length.ts";
import { reduceTask, settledText } from "./reduce-task.ts";
import type { HistoryItem, SessionState, Turn } from "./state.ts";
import { steers } from "./steering.ts";
import { compactedHistory, droppedFile } from "./text.ts";

/** Folds one entry of the log into the state of a session. Pure: the same log always gives the same state. */
export function reduce(state: SessionState | undefined, entry: Entry): SessionState {
  if (entry.type === "session.opened") {
    const { sessionId, nodeId, agentName, origin, initiator, expiresAt, fork } = entry.data;
    return {
      format: 1,
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
      prompt: { tokens: 0, characters: lengthOfAll(fork?.history ?? []) },
      forkedFrom: fork === undefined ? undefined : { sessionId: fork.sessionId, index: fork.index },
      queue: [],
      history: fork?.history ?? [],
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
      return queueDelivery(state, entry.data.delivery);
    case "delivery.dropped":
      return { ...state, queue: without(state.queue, [entry.data.deliveryId]) };
    case "turn.started":
      return startTurn(state, entry);
    case "message.received": {
      const { deliveryIds, replyTo, context, outputSchema } = entry.inner!;
      const read = { ...state, queue: without(state.queue, deliveryIds) };
      const heard = append(read, {
        role: "user",
        parts: entry.data.parts,
        ...(context === undefined ? {} : { context }),
      });
      return inTurn(heard, (turn) => ({
        replyTo: replyTo === undefined ? turn.replyTo : [...turn.replyTo, replyTo],
        outputSchema: outputSchema ?? turn.outputSchema,
      }));
    }
    case "results.shown":
      return inTurn(append(state, { role: "note", text: entry.data.text }), (turn) => ({
        results: turn.results.slice(entry.data.count),
      }));
    case "tasks.noted":
      return append({ ...state, notedTasks: entry.data.key }, { role: "note", text: entry.data.text });
    case "output.refused":
      return inTurn(append(state, { role: "note", text: entry.data.text }), ({ refusals }) => ({
        refusals: refusals + 1,
      }));
    case "output.began":
      return inTurn(state, () => ({ spoke: true }));
    case "result.completed":
      return inTurn(state, () => ({ result: { value: entry.data.result } }));
    case "reply.reissued":
      return inTurn(append(state, { role: "note", text: entry.data.text }), ({ stepIndex }) => ({
        reissued: stepIndex,
      }));
    case "step.started":
      return inTurn(state, (turn) => ({
        phase: "model",
        stepIndex: entry.data.stepIndex,
        attempt: entry.data.attempt,
        spoke: false,
        compacted: false,
        // An attempt, or the request for an empty reply, has what is left of the step's provider calls (§19).
        failures: entry.data.stepIndex === turn.stepIndex || turn.reissued === turn.stepIndex ? turn.failures : 0,
      }));
    case "message.completed": {
      const stepKey = `${entry.data.turnId}/${entry.data.stepIndex}`;
      const said = append(state, { role: "assistant", stepKey, text: entry.data.message, calls: [] });
      return inTurn(said, () => ({ reply: entry.data.message }));
    }
    case "actions.requested":
      return requestActions(state, entry.data);
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
      return inTurn(count(state, entry.data.usage), ({ usage }) => ({ usage: addUsage(usage, entry.data.usage) }));
    case "step.failed":
      return inTurn(state, (turn) => ({ failures: turn.failures + 1 }));
    case "turn.waiting":
      return inTurn(state, () => ({ phase: "tasks" }));
    case "turn.completed":
    case "turn.cancelled":
      return { ...endTurn(state), failed: undefined };
    case "turn.failed": {
      const { turnId, principal, outputSchema } = state.turn!;
      return { ...endTurn(state), failed: { turnId, principal, outputSchema } };
    }
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
      return inTurn(asked, () => ({ phase: "compact", compacted: true }));
    }
    case "compaction.completed":
      return shorten(state, entry.inner!);
    case "compaction.failed":
      return { ...state, compaction: undefined };
    case "context.cleared":
      return { ...forget(state, []), compactions: state.compactions + 1 };
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

/** What waits for the turn under way to stop early hears of it. */
function queueDelivery(state: SessionState, delivery: SessionState["queue"][number]): SessionState {
  const queued = { ...state, queue: [...state.queue, delivery] };
  return inTurn(queued, (turn) => {
    if (turn.phase !== "calls" || !steers(delivery, turn)) return {};
    const stopping = Object.entries(turn.pending).map(([id, call]) => [id, { ...call, steered: true as const }]);
    return { pending: Object.fromEntries(stopping) };
  });
}

function startTurn(state: SessionState, { data, inner }: Extract<Entry, { type: "turn.started" }>): SessionState {
  const { turnId, sequence, retryOf } = data;
  const again = retryOf === undefined ? undefined : state.failed;
  return {
    ...state,
    nextSequence: sequence + 1,
    failed: undefined,
    history: state.failed === undefined || again !== undefined ? state.history : withoutUnreadFiles(state.history),
    turn: {
      turnId,
      sequence,
      principal: inner!.principal,
      phase: "model",
      stepIndex: -1,
      attempt: 0,
      failures: 0,
      pending: {},
      results: [],
      replyTo: [],
      reply: "",
      usage: NO_USAGE,
      reissued: undefined,
      spoke: false,
      compacted: false,
      outputSchema: again?.outputSchema,
      refusals: 0,
      result: undefined,
    },
  };
}

/** What a message brought along for its turn goes with it. */
function endTurn(state: SessionState): SessionState {
  const { history } = state;
  const ended = { ...state, turn: undefined, compaction: undefined };
  if (!history.some((item) => item.role === "user" && item.context !== undefined)) return ended;
  return { ...ended, history: history.map(withoutContext) };
}

function withoutContext(item: HistoryItem): HistoryItem {
  return item.role === "user" ? { role: "user", parts: item.parts } : item;
}

/** The provider has counted what there was; the rest is estimated until it counts again. */
function count(state: SessionState, usage: Usage): SessionState {
  const counted = { ...state, usage: addUsage(state.usage, usage) };
  const tokens = usage.inputTokens + usage.outputTokens;
  return usage.inputTokens === 0 ? counted : { ...counted, prompt: { tokens, characters: 0 } };
}

function shorten(state: SessionState, { summary, usage }: { summary: string; usage: Usage }): SessionState {
  const { kept } = state.compaction!;
  const last = state.history.slice(state.history.length - kept);
  const shorter = forget(state, [{ role: "note", text: compactedHistory(summary) }, ...last]);
  return { ...shorter, compaction: undefined, usage: addUsage(state.usage, usage) };
}

/** Another history takes the place of the one there was. The tasks are named again in it (§6.9). */
function forget(state: SessionState, history: readonly HistoryItem[]): SessionState {
  const prompt = { tokens: 0, characters: lengthOfAll(history) };
  return { ...state, history, prompt, notedTasks: "", failed: undefined };
}

function lengthOfAll(history: readonly HistoryItem[]): number {
  return history.reduce((length, item) => length + lengthOf(item), 0);
}

function requestActions(
  state: SessionState,
  data: Extract<Entry, { type: "actions.requested" }>["data"],
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
      ? { ...state, history: [...state.history.slice(0, -1), { ...last, calls }] }
      : append(state, { role: "assistant", stepKey, text: "", calls });
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
  const { tokens, characters } = state.prompt;
  return { ...state, history: [...state.history, item], prompt: { tokens, characters: characters + lengthOf(item) } };
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
