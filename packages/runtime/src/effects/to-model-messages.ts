import type { ModelMessage, ToolCallPart, UserContent } from "ai";
import type { HistoryCall, HistoryItem } from "../engine/state.ts";
import { CANCELLED_CALL } from "../engine/text.ts";
import type { MessagePart } from "../protocol/events.ts";

/**
 * The history as the AI SDK takes it. Every call gets a result right behind the message that made it, as providers
 * demand; one that was stopped before it had a result gets a sentence that says so.
 */
export function toModelMessages(history: readonly HistoryItem[]): ModelMessage[] {
  let results: ReadonlyMap<string, ToolItem> | undefined;
  return history.flatMap((item) => {
    const known = converted.get(item);
    if (known !== undefined) return known;
    results ??= new Map(history.flatMap((other) => (other.role === "tool" ? [[other.callId, other] as const] : [])));
    const messages = toMessages(item, results);
    if (isFinal(item, results)) converted.set(item, messages);
    return messages;
  });
}

type ToolItem = Extract<HistoryItem, { role: "tool" }>;

/** An item never changes, so a step converts what the last one has added, however long the history is. */
const converted = new WeakMap<HistoryItem, readonly ModelMessage[]>();

function isFinal(item: HistoryItem, results: ReadonlyMap<string, ToolItem>): boolean {
  return item.role !== "assistant" || item.calls.every(({ callId }) => results.has(callId));
}

function toMessages(item: HistoryItem, results: ReadonlyMap<string, ToolItem>): ModelMessage[] {
  switch (item.role) {
    case "user":
      return [...(item.context ?? []).map(toContext), { role: "user", content: toContent(item.parts) }];
    case "note":
      return [...(item.context ?? []).map(toContext), { role: "user", content: item.text }];
    case "tool":
      return [];
    case "assistant":
      return toAssistant(item, results);
  }
}

function toContext(content: string): ModelMessage {
  return { role: "user", content };
}

function toAssistant(
  { text, calls }: Extract<HistoryItem, { role: "assistant" }>,
  results: ReadonlyMap<string, ToolItem>,
): ModelMessage[] {
  const spoken: ModelMessage = {
    role: "assistant",
    content: [...(text === "" ? [] : [{ type: "text" as const, text }]), ...calls.map(toValidCall)],
  };
  if (calls.length === 0) return [spoken];
  return [
    spoken,
    {
      role: "tool",
      content: calls.map(({ callId, toolName }) => ({
        type: "tool-result" as const,
        toolCallId: callId,
        toolName: toValidName(toolName),
        output: toOutput(results.get(callId)),
      })),
    },
  ];
}

/** What a model made up is answered with an error, but providers refuse to read it again as it was. */
function toValidCall({ callId, toolName, input }: HistoryCall): ToolCallPart {
  const valid = typeof input === "object" && input !== null && !Array.isArray(input);
  return { type: "tool-call", toolCallId: callId, toolName: toValidName(toolName), input: valid ? input : {} };
}

function toValidName(toolName: string): string {
  return toolName.replace(/[^A-Za-z0-9_-]/g, "_").slice(0, 64) || "_";
}

function toOutput(
  item: ToolItem | undefined,
): { type: "text" | "error-text"; value: string } | { type: "json"; value: never } {
  if (item === undefined) return { type: "text", value: CANCELLED_CALL };
  if (typeof item.output === "string") return { type: item.failed ? "error-text" : "text", value: item.output };
  return { type: "json", value: (item.output ?? null) as never };
}

function toContent(parts: readonly MessagePart[]): UserContent {
  return parts.map((part) =>
    part.type === "text"
      ? { type: "text" as const, text: part.text }
      : {
          type: "file" as const,
          mediaType: part.mediaType,
          data: part.url === undefined ? part.data! : new URL(part.url),
          ...(part.filename === undefined ? {} : { filename: part.filename }),
        },
  );
}
