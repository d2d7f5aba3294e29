import type { HistoryItem, SessionState } from "./state.ts";

/** Characters that one token is taken for, where no provider has counted. */
export const CHARACTERS_PER_TOKEN = 4;
/** What a picture or a document is taken for: its bytes say little about its tokens. */
const FILE_LENGTH = 6_000;

/** Tokens that the next prompt is expected to have. */
export function promptTokens({ prompt }: Pick<SessionState, "prompt">): number {
  return prompt.tokens + Math.ceil(prompt.characters / CHARACTERS_PER_TOKEN);
}

/** Characters that items add to the prompt, about. */
export function lengthOfAll(history: readonly HistoryItem[]): number {
  return history.reduce((length, item) => length + lengthOf(item), 0);
}

/** Characters that an item adds to the prompt, about. */
export function lengthOf(item: HistoryItem): number {
  switch (item.role) {
    case "user":
      return item.parts.reduce(
        (length, part) => length + (part.type === "text" ? part.text.length : FILE_LENGTH),
        lengthOfContext(item),
      );
    case "note":
      return item.text.length + lengthOfContext(item);
    case "assistant":
      return item.text.length + jsonLength(item.calls) + jsonLength(item.content ?? []);
    case "tool":
      return typeof item.output === "string" ? item.output.length : JSON.stringify(item.output ?? null).length;
  }
}

function jsonLength(items: readonly unknown[]): number {
  return items.length === 0 ? 0 : JSON.stringify(items).length;
}

function lengthOfContext({ context = [] }: { readonly context?: readonly string[] }): number {
  return context.reduce((length, text) => length + text.length, 0);
}
