import type { LanguageModelUsage, ProviderMetadata } from "ai";
import { NO_USAGE } from "../engine/entry.ts";
import type { Usage } from "../protocol/events.ts";

/** What a provider call took, and what it cost when the provider says so. Thoughts are part of the output. */
export function toUsage(usage: LanguageModelUsage, metadata?: ProviderMetadata): Usage {
  // Models of earlier versions of the AI SDK have no details.
  const { inputTokenDetails: input, outputTokenDetails: output } = usage as Partial<LanguageModelUsage>;
  const cacheReadTokens = input?.cacheReadTokens ?? 0;
  const cacheWriteTokens = input?.cacheWriteTokens ?? 0;
  const costUsd = costOf(metadata);
  return {
    inputTokens: usage.inputTokens ?? (input?.noCacheTokens ?? 0) + cacheReadTokens + cacheWriteTokens,
    outputTokens: usage.outputTokens ?? (output?.textTokens ?? 0) + (output?.reasoningTokens ?? 0),
    cacheReadTokens,
    cacheWriteTokens,
    ...(costUsd === undefined ? {} : { costUsd }),
  };
}

/** Whether a provider that failed has said what it took all the same. */
export function isKnown(usage: Usage): boolean {
  return JSON.stringify(usage) !== JSON.stringify(NO_USAGE);
}

/** The AI Gateway reports the price of every call, as a number or as text. */
function costOf(metadata: ProviderMetadata | undefined): number | undefined {
  const reported = metadata?.["gateway"]?.["cost"];
  const cost = typeof reported === "string" && reported.trim() !== "" ? Number(reported) : reported;
  return typeof cost === "number" && Number.isFinite(cost) && cost >= 0 ? cost : undefined;
}
