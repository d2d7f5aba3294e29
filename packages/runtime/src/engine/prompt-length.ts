import type { HistoryItem, SessionState } from "./state.ts";

/** Characters that one token is taken for, where no provider has counted. */
export const CHARACTERS_PER_TOKEN = 4;
/** What a picture or a document is taken for: its bytes say little about its tokens. */
const FILE_LENGTH = 6_000;

/** Tokens that the next prompt is expected to have. */
export function promptTokens({ prompt }: Pick<SessionState, "prompt">): number {
  return prompt.tokens + Math.ceil(prompt.characters / CHARACTERS_PER_TOKEN);
}

/** Characters that an item adds to the prompt, about. */
export function lengthOf(item: HistoryItem): number {
  switch (item.role) {
    case "user":
      return item.parts.reduce((length, part) => length + (part.type === "text" ? part.text.length : FILE_LENGTH), 0);
    case "note":
      return item.text.length;
    case "assistant":
      return item.text.length + (item.calls.length === 0 ? 0 : JSON.stringify(item.calls).length);
    case "tool":
      return typeof item.output === "string" ? item.output.length : JSON.stringify(item.output ?? null).length;
  }
}
