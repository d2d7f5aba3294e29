import type { LanguageModel } from "ai";
import type { LanguageModelV4CallOptions, SharedV4ProviderOptions } from "@ai-sdk/provider";
import { AgentError } from "../errors.ts";
import { checkOptions } from "./check-options.ts";

/** How much a model thinks before it answers. What a level means, and which there are, is up to model and provider. */
export type Reasoning = NonNullable<LanguageModelV4CallOptions["reasoning"]>;

/** What an agent's model is called with besides its prompt. Everything is optional; the provider has its defaults. */
export interface ModelOptions {
  /**
   * Options of a provider's own, by its name, as the AI SDK documents them:
   * `{ gateway: { order: ["bedrock"] }, anthropic: { effort: "low" } }`. They go before what the runtime sets itself.
   */
  readonly providerOptions?: SharedV4ProviderOptions;
  /**
   * The runtime asks for prompt caching where a provider has to be asked; `false`: it does not. For a Claude model
   * that it does not know as one, and for another lifetime than five minutes: `{ anthropic: { ttl: "1h" } }`.
   */
  readonly promptCache?: boolean | { readonly anthropic: { readonly ttl?: "5m" | "1h" } };
  readonly maxOutputTokens?: number;
  readonly temperature?: number;
  readonly topP?: number;
  readonly topK?: number;
  readonly presencePenalty?: number;
  readonly frequencyPenalty?: number;
  readonly stopSequences?: readonly string[];
  readonly seed?: number;
  /**
   * Milliseconds that the provider may say nothing: before it begins to answer, and between two parts of the answer.
   * Longer is a failure that passes. Default 240,000 each.
   */
  readonly timeout?: { readonly firstChunkMs?: number; readonly chunkMs?: number };
}

/** @throws AgentError `CONFIG_INVALID` for an unknown option or one of the wrong type. */
export function checkModelOptions(options: ModelOptions, model: LanguageModel | undefined): void {
  const helper = "defineAgent modelOptions";
  checkOptions(helper, options, {
    providerOptions: "providers?",
    promptCache: "cache?",
    maxOutputTokens: "count?",
    temperature: "number?",
    topP: "number?",
    topK: "number?",
    presencePenalty: "number?",
    frequencyPenalty: "number?",
    stopSequences: "texts?",
    seed: "number?",
    timeout: "object?",
  });
  const { promptCache, timeout } = options;
  if (timeout !== undefined) {
    checkOptions(`${helper}.timeout`, timeout, { firstChunkMs: "duration?", chunkMs: "duration?" });
  }
  if (typeof model === "string" && typeof promptCache === "object") {
    throw new AgentError("CONFIG_INVALID", `${helper} has a "promptCache" for Claude, and its model is a gateway's.`, {
      fix: 'Remove it: the gateway caches by itself. Its own option is providerOptions: { gateway: { caching: "auto" } }.',
      data: { option: "promptCache" },
    });
  }
}
