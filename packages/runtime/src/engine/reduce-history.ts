import type { Usage } from "../protocol/events.ts";
import { addUsage, type Entry } from "./entry.ts";
import { contextOf, withoutContext } from "./history.ts";
import { lengthOf, lengthOfAll } from "./prompt-length.ts";
import type { HistoryItem, SessionState } from "./state.ts";
import { compactedHistory } from "./text.ts";

/** Adds to the end of the history. */
export function append(state: SessionState, item: HistoryItem): SessionState {
  const { tokens, characters } = state.prompt;
  return { ...state, history: [...state.history, item], prompt: { tokens, characters: characters + lengthOf(item) } };
}

/** Adds calls to the text of their step, or without one. */
export function appendCalls(
  state: SessionState,
  { data: { turnId, stepIndex, actions }, inner }: Extract<Entry, { type: "actions.requested" }>,
): SessionState {
  const stepKey = `${turnId}/${stepIndex}`;
  const calls = actions.map((action) => ({
    callId: action.callId,
    toolName: action.toolName ?? action.subagentName ?? action.remoteAgentName ?? "",
    input: action.input,
  }));
  const last = state.history.at(-1);
  return last?.role === "assistant" && last.stepKey === stepKey
    ? { ...state, history: [...state.history.slice(0, -1), { ...last, calls, ...inner }] }
    : append(state, { role: "assistant", stepKey, text: "", calls, ...inner });
}

/** The provider has counted what it read; what it said, and all that follows, is estimated until it counts again. */
export function countPrompt(state: SessionState, { inputTokens }: Usage): SessionState {
  if (inputTokens === 0) return state;
  const said = state.history.at(-1);
  const characters = said?.role === "assistant" ? lengthOf(said) : 0;
  return { ...state, prompt: { tokens: inputTokens, characters } };
}

/** Puts a summary into the place of what it is one of. */
export function shorten(state: SessionState, { summary, usage }: { summary: string; usage: Usage }): SessionState {
  const end = state.history.length - state.compaction!.kept;
  const context = contextOf(state.history.slice(0, end));
  const note: HistoryItem = {
    role: "note",
    text: compactedHistory(summary),
    summary: true,
    ...(context.length === 0 ? {} : { context }),
  };
  const shorter = forget(state, [note, ...state.history.slice(end)]);
  return { ...shorter, compaction: undefined, usage: addUsage(state.usage, usage) };
}

/** Another history takes the place of the one there was. The tasks are named again in it (§6.9). */
export function forget(state: SessionState, history: readonly HistoryItem[]): SessionState {
  return { ...state, history, prompt: { tokens: 0, characters: lengthOfAll(history) }, notedTasks: "" };
}

/** What messages brought along for their turn goes with it. */
export function dropContext(state: SessionState): SessionState {
  if (contextOf(state.history).length === 0) return state;
  return { ...state, history: state.history.map(withoutContext) };
}
