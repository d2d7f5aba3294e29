import type { AssistantContent, ModelMessage, ToolCallPart, UserContent } from "ai";
import type { HistoryCall, HistoryItem } from "../engine/state.ts";
import { CANCELLED_CALL } from "../engine/text.ts";
import type { MessagePart } from "../protocol/events.ts";

/**
 * The history as the AI SDK takes it. Every call gets a result right behind the message that made it, as providers
 * demand; one that was stopped before it had a result gets a sentence that says so.
 */
export function toModelMessages(history: readonly HistoryItem[]): ModelMessage[] {
  return history.flatMap((_, index) => toMessages(history, index));
}

/** What {@link toModelMessages} makes of one item. */
export function toMessages(history: readonly HistoryItem[], index: number): ModelMessage[] {
  const item = history[index]!;
  switch (item.role) {
    case "user":
      return [...(item.context ?? []).map(toContext), { role: "user", content: toContent(item.parts) }];
    case "note":
      return [...(item.context ?? []).map(toContext), { role: "user", content: item.text }];
    case "tool":
      return [];
    case "assistant":
      return toAssistant(item, findResults(history, index));
  }
}

function toContext(content: string): ModelMessage {
  return { role: "user", content };
}

/** Whether any model reads an item so, now and later: a file by URL is fetched for those that can not fetch it. */
export function isSettled(history: readonly HistoryItem[], index: number): boolean {
  const item = history[index]!;
  if (item.role === "user") return item.parts.every((part) => part.type === "text" || part.url === undefined);
  return item.role !== "assistant" || findResults(history, index).size === item.calls.length;
}

type AssistantItem = Extract<HistoryItem, { role: "assistant" }>;
type ToolItem = Extract<HistoryItem, { role: "tool" }>;

/** Results stand behind their call, mostly right behind it. */
function findResults(history: readonly HistoryItem[], index: number): ReadonlyMap<string, ToolItem> {
  const { calls } = history[index] as AssistantItem;
  const wanted = new Set(calls.map(({ callId }) => callId));
  const results = new Map<string, ToolItem>();
  for (let at = index + 1; at < history.length && results.size < wanted.size; at++) {
    const item = history[at]!;
    if (item.role === "tool" && wanted.has(item.callId)) results.set(item.callId, item);
  }
  return results;
}

function toAssistant(item: AssistantItem, results: ReadonlyMap<string, ToolItem>): ModelMessage[] {
  const { calls } = item;
  const content = toSpoken(item);
  const spoken: ModelMessage[] = content.length === 0 ? [] : [{ role: "assistant", content }];
  if (calls.length === 0) return spoken;
  return [
    ...spoken,
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

type SpokenPart = Exclude<AssistantContent, string>[number];

/** The response as its provider gave it; where nothing of that kind is kept, the text, then the calls. */
function toSpoken({ text, calls, content }: AssistantItem): SpokenPart[] {
  if (content === undefined) return [...(isBlank(text) ? [] : [{ type: "text" as const, text }]), ...calls.map(toCall)];
  let read = 0;
  let called = 0;
  const spoken = content.map((part): SpokenPart => {
    const metadata = part.providerMetadata && { providerOptions: part.providerMetadata as never };
    switch (part.type) {
      case "text":
        return { type: "text", text: text.slice(read, (read += part.length)), ...metadata };
      case "reasoning":
        return { type: "reasoning", text: part.text, ...metadata };
      case "call":
        return { ...toCall(calls[called++]!), ...metadata };
      case "custom":
        return { type: "custom", kind: part.kind as `${string}.${string}`, ...metadata };
    }
  });
  return spoken.filter((part) => part.type !== "text" || part.providerOptions !== undefined || !isBlank(part.text));
}

/** Models and people say it, and some providers refuse to read it. */
function isBlank(text: string): boolean {
  return text.trim() === "";
}

/** What a model made up is answered with an error, but providers refuse to read it again as it was. */
function toCall({ callId, toolName, input }: HistoryCall): ToolCallPart {
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
  const said = parts.filter((part) => part.type !== "text" || !isBlank(part.text));
  return said.map((part) =>
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
