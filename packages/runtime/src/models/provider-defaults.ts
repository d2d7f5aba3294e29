import { createHash } from "node:crypto";
import type { LanguageModelV4Prompt, SharedV4ProviderOptions } from "@ai-sdk/provider";
import type { ModelOptions } from "../define/model-options.ts";

/** What a provider is told unless the author says otherwise. */
export interface ProviderDefaults {
  readonly providerOptions: SharedV4ProviderOptions;
  /** Stands at the messages up to which the provider is to keep a prompt. */
  readonly mark?: SharedV4ProviderOptions;
}

interface Call {
  /** As the AI SDK names it: `anthropic.messages`, `openai.responses`, `gateway`. */
  readonly provider: string;
  readonly modelId: string;
  readonly sessionId: string;
}

/**
 * Everything that is known here of single providers: how each is asked to keep the beginning of a prompt, which is
 * the same from call to call (§6.9). Those that are not named do it by themselves, or not at all.
 */
export function providerDefaults(call: Call, promptCache: ModelOptions["promptCache"] = true): ProviderDefaults {
  const { provider, modelId, sessionId } = call;
  const isAnthropic = provider.includes("anthropic");
  // Its pings tell a provider that thinks from one that hangs.
  const providerOptions: SharedV4ProviderOptions = isAnthropic ? { anthropic: { includePings: true } } : {};
  if (promptCache === false) return { providerOptions };
  if (provider === "gateway") return { providerOptions: { gateway: { caching: "auto" } } };
  if (provider.startsWith("openai.")) return { providerOptions: { openai: { promptCacheKey: toKey(sessionId) } } };
  if (!isAnthropic && !modelId.includes("claude") && promptCache === true) return { providerOptions };
  const ttl = promptCache === true ? {} : promptCache.anthropic;
  return provider === "amazon-bedrock"
    ? { providerOptions, mark: { bedrock: { cachePoint: { type: "default", ...ttl } } } }
    : { providerOptions, mark: { anthropic: { cacheControl: { type: "ephemeral", ...ttl } } } };
}

/**
 * Marks the ends that a provider is to keep: of the system message, of this prompt, and of the one that the last call
 * was made with, for a provider looks only some way back from a mark for what it has kept. They are three of the four
 * marks that Anthropic allows. A mark is no part of what is compared: it moves on, and the beginning stays the same.
 */
export function markPrompt(prompt: LanguageModelV4Prompt, mark: SharedV4ProviderOptions): LanguageModelV4Prompt {
  const lastAnswer = prompt.findLastIndex(({ role }) => role === "assistant");
  const ends = new Set([
    prompt.findLastIndex(({ role }) => role === "system"),
    prompt.findLastIndex(({ role }, index) => role !== "assistant" && index < lastAnswer),
    prompt.length - 1,
  ]);
  const marked = [...prompt];
  for (const end of ends) {
    const message = prompt[end];
    if (message !== undefined) marked[end] = { ...message, providerOptions: { ...message.providerOptions, ...mark } };
  }
  return marked;
}

/** OpenAI finds what it has kept by this name; who the session is, is not for it to know. */
function toKey(sessionId: string): string {
  return createHash("sha256").update(sessionId).digest("hex").slice(0, 32);
}
