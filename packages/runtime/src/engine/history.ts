import type { HistoryItem } from "./state.ts";
import { droppedFile } from "./text.ts";

/**
 * How many items at the end of a history the model has not answered to: messages, notes, and the results of its last
 * calls together with them.
 */
export function unreadItems(history: readonly HistoryItem[]): number {
  const at = history.findLastIndex(({ role }) => role === "assistant");
  const last = history[at];
  const asked = last?.role === "assistant" && last.calls.length > 0;
  return history.length - (asked ? at : at + 1);
}

/** The item without what was to be known for one turn only. */
export function withoutContext(item: HistoryItem): HistoryItem {
  if ((item.role !== "user" && item.role !== "note") || item.context === undefined) return item;
  const { context: _, ...rest } = item;
  return rest;
}

/** What is to be known, of all items, for one turn only. */
export function contextOf(history: readonly HistoryItem[]): string[] {
  return history.flatMap((item) => (item.role === "user" || item.role === "note" ? (item.context ?? []) : []));
}

/** A file that the model never answered to may be why the turn failed: it must not fail every later turn, too. */
export function withoutUnreadFiles(history: readonly HistoryItem[]): readonly HistoryItem[] {
  const answered = history.findLastIndex(({ role }) => role === "assistant");
  return history.map((item, index) => {
    if (index <= answered || item.role !== "user" || item.parts.every(({ type }) => type === "text")) return item;
    const parts = item.parts.map((part) =>
      part.type === "text" ? part : { type: "text" as const, text: droppedFile(part.filename ?? part.mediaType) },
    );
    return { ...item, parts };
  });
}

/** The reply that a turn failed with is no part of doing it again: providers take what it ends with for a beginning. */
export function withoutLastReply(history: readonly HistoryItem[]): readonly HistoryItem[] {
  const last = history.at(-1);
  return last?.role === "assistant" && last.calls.length === 0 ? withoutLastReply(history.slice(0, -1)) : history;
}
