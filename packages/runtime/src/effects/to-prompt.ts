import type { LanguageModelV4Prompt } from "@ai-sdk/provider";
import type { ModelMessage } from "ai";
import type { HistoryItem } from "../engine/state.ts";
import { isSettled, toMessages } from "./to-model-messages.ts";

export interface PromptDraft {
  /** Messages that are still to be converted; never none, for the AI SDK takes no empty prompt. */
  readonly messages: ModelMessage[];
  /** The whole prompt, from what the AI SDK made of `messages`, with the system message in front. */
  complete(converted: LanguageModelV4Prompt): LanguageModelV4Prompt;
}

/**
 * The prompt of a history, of which the AI SDK converts only what no step before has had converted: a call costs what
 * the last one has added, however long the session is.
 */
export function draftPrompt(history: readonly HistoryItem[]): PromptDraft {
  const last = history.findLastIndex((_, index) => toMessages(history, index).length > 0);
  const beginning = findBeginning(history, last);
  const fresh = history.slice(beginning.length).map((_, index) => toMessages(history, beginning.length + index));
  const messages = fresh.flat();
  return {
    messages,
    complete: (converted) => {
      const system = converted.findIndex(({ role }) => role !== "system");
      const made = converted.slice(system);
      if (made.length !== messages.length) {
        throw new Error("The AI SDK made other messages of a prompt than it was given.");
      }
      let { length } = beginning;
      let count = 0;
      while (length < last && isSettled(history, length)) count += fresh[length++ - beginning.length]!.length;
      if (length > beginning.length) {
        keep({ history, length, prompt: [...beginning.prompt, ...made.slice(0, count)] }, beginning);
      }
      return [...converted.slice(0, system), ...beginning.prompt, ...made];
    },
  };
}

/** The first `length` items of a history, and what the AI SDK made of them. */
interface Beginning {
  readonly history: readonly HistoryItem[];
  readonly length: number;
  readonly prompt: LanguageModelV4Prompt;
}

/** By the last item, so that it goes with the session; one for each. */
const beginnings = new WeakMap<HistoryItem, Beginning>();

function keep(beginning: Beginning, former: Beginning): void {
  if (former.length > 0) beginnings.delete(former.history[former.length - 1]!);
  beginnings.set(beginning.history[beginning.length - 1]!, beginning);
}

function findBeginning(history: readonly HistoryItem[], before: number): Beginning {
  for (let at = before - 1; at >= 0; at--) {
    const known = beginnings.get(history[at]!);
    if (known === undefined) continue;
    let same = known.length === at + 1;
    for (let index = 0; same && index < at; index++) same = known.history[index] === history[index];
    if (same) return known;
  }
  return { history, length: 0, prompt: [] };
}
