import type { LanguageModelV4Message, LanguageModelV4Prompt } from "@ai-sdk/provider";
import { COMPACTION_PROMPT } from "../../engine/text.ts";

/** Characters that are kept of each message. */
const MAX_LENGTH = 400;

/** The notes that take the place of a history, when the prompt asks for them: each message, cut. */
export function summarize(prompt: LanguageModelV4Prompt): string | undefined {
  const last = prompt.at(-1);
  if (last === undefined || last.role !== "user" || textOf(last) !== COMPACTION_PROMPT) return undefined;
  const lines = prompt.slice(0, -1).flatMap((message) => {
    const text = message.role === "user" || message.role === "assistant" ? textOf(message) : "";
    return text === "" ? [] : [`${message.role === "user" ? "asked" : "answered"}: ${cut(text)}`];
  });
  return lines.join("\n");
}

function textOf(message: Extract<LanguageModelV4Message, { role: "user" | "assistant" }>): string {
  return message.content
    .map((part) => (part.type === "text" ? part.text : ""))
    .join("")
    .trim();
}

function cut(text: string): string {
  const line = text.replace(/\s+/g, " ");
  return line.length > MAX_LENGTH ? `${line.slice(0, MAX_LENGTH)}…` : line;
}
