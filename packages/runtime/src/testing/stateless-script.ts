import type { LanguageModelV4, LanguageModelV4Message, LanguageModelV4Prompt } from "@ai-sdk/provider";
import { unwrapDelegation } from "../engine/text.ts";
import { AgentError } from "../errors.ts";
import { createPlayer } from "./play-step.ts";
import type { ScriptEntry } from "./script.ts";
import { toRequest } from "./script.ts";

/**
 * A model for tests of whole processes: the script is chosen by the last user message that equals one of the keys
 * (`"prefix*"` matches a beginning, `"*"` anything), and the step by the number of responses since. It keeps
 * nothing, so it answers a call that is repeated after a crash with the same step, ids included.
 *
 * A response without text and calls leaves no trace in some histories; a step like that counts as played once a
 * task result follows. A delegated message is matched without its wrapper.
 *
 * @throws AgentError `CONFIG_INVALID` from a call that no key or no step answers.
 * @example
 * export default defineAgent({ model: statelessScript({ "hello": [{ text: "Hello!" }], "*": [{ text: "What?" }] }) });
 */
export function statelessScript(
  scripts: Readonly<Record<string, readonly ScriptEntry[]>>,
  options: { readonly modelId?: string } = {},
): LanguageModelV4 {
  const modelId = options.modelId ?? "stateless-script";
  return createPlayer({ provider: "scripted", modelId }, (callOptions) => {
    const found = findScript(callOptions.prompt, scripts);
    if (found === undefined) {
      throw new AgentError(
        "CONFIG_INVALID",
        `"${modelId}" has no script for ${JSON.stringify(lastMessage(callOptions.prompt))}.`,
        {
          fix: `Send one of ${Object.keys(scripts)
            .map((key) => JSON.stringify(key))
            .join(", ")}, or add a script.`,
        },
      );
    }
    const { key, script, after } = found;
    const index = countPlayed(after, script);
    const entry = script[index];
    if (entry !== undefined) return { entry, request: toRequest(callOptions, index) };
    throw new AgentError(
      "CONFIG_INVALID",
      `The script ${JSON.stringify(key)} of "${modelId}" has ${script.length} steps, and the model was called again.`,
      {
        fix: "Add a step to the script, or find out why the model is called once more.",
      },
    );
  });
}

interface Found {
  readonly key: string;
  readonly script: readonly ScriptEntry[];
  readonly after: LanguageModelV4Prompt;
}

function findScript(
  prompt: LanguageModelV4Prompt,
  scripts: Readonly<Record<string, readonly ScriptEntry[]>>,
): Found | undefined {
  for (let at = prompt.length - 1; at >= 0; at--) {
    const text = writtenText(prompt[at]);
    if (text === undefined) continue;
    const key = matchKey(text, Object.keys(scripts));
    const script = key === undefined ? undefined : scripts[key];
    if (key !== undefined && script !== undefined) return { key, script, after: prompt.slice(at + 1) };
  }
  return undefined;
}

/** The key itself, else the longest prefix. */
function matchKey(text: string, keys: readonly string[]): string | undefined {
  if (keys.includes(text)) return text;
  return keys
    .filter((key) => key.endsWith("*") && text.startsWith(key.slice(0, -1)))
    .sort((a, b) => b.length - a.length)[0];
}

function countPlayed(after: LanguageModelV4Prompt, script: readonly ScriptEntry[]): number {
  let played = 0;
  for (const message of after) {
    if (message.role === "assistant") played++;
    else if (isTaskMessage(message) && isEmptyStep(script[played])) played++;
  }
  return played;
}

function isEmptyStep(entry: ScriptEntry | undefined): boolean {
  if (entry === undefined || typeof entry === "function") return false;
  const text = typeof entry.text === "string" ? entry.text : (entry.text ?? []).join("");
  return text === "" && (entry.calls ?? []).length === 0 && entry.error === undefined;
}

/** What a person or a parent wrote; undefined for the notes and results of the runtime. */
function writtenText(message: LanguageModelV4Message | undefined): string | undefined {
  if (message?.role !== "user" || isTaskMessage(message)) return undefined;
  const text = unwrapDelegation(userText(message)).trim();
  return text.startsWith("[Tasks]") ? undefined : text;
}

function isTaskMessage(message: LanguageModelV4Message): boolean {
  return message.role === "user" && userText(message).startsWith("<task_result ");
}

function userText(message: Extract<LanguageModelV4Message, { role: "user" }>): string {
  return message.content.map((part) => (part.type === "text" ? part.text : "")).join("");
}

function lastMessage(prompt: LanguageModelV4Prompt): string {
  return prompt.map(writtenText).findLast((text) => text !== undefined) ?? "";
}
