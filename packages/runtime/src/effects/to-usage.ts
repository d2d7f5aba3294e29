import type { LanguageModelUsage, ProviderMetadata } from "ai";
import { NO_USAGE } from "../engine/entry.ts";
import type { Usage } from "../protocol/events.ts";
import type { ResponseEnd } from "./read-response.ts";

/** What a provider call took, and what it cost when the provider says so. Thoughts are part of the output. */
export function toUsage({ usage, providerMetadata }: ResponseEnd): Usage {
  const { inputTokenDetails: input, outputTokenDetails: output } = usage as Partial<LanguageModelUsage>;
  const cacheReadTokens = input?.cacheReadTokens ?? 0;
  const cacheWriteTokens = input?.cacheWriteTokens ?? 0;
  const costUsd = costOf(providerMetadata);
  return {
    inputTokens: usage.inputTokens ?? (input?.noCacheTokens ?? 0) + cacheReadTokens + cacheWriteTokens,
    outputTokens: usage.outputTokens ?? (output?.textTokens ?? 0) + (output?.reasoningTokens ?? 0),
    cacheReadTokens,
    cacheWriteTokens,
    ...(costUsd === undefined ? {} : { costUsd }),
  };
}

/** The usage of a call that failed, unless its provider said nothing of it. */
export function toKnownUsage(end: ResponseEnd | undefined): Usage | undefined {
  const usage = end && toUsage(end);
  return usage === undefined || JSON.stringify(usage) === JSON.stringify(NO_USAGE) ? undefined : usage;
}

/** The AI Gateway reports the price of every call, as a number or as text. */
function costOf(metadata: ProviderMetadata | undefined): number | undefined {
  const reported = metadata?.["gateway"]?.["cost"];
  const cost = typeof reported === "string" && reported.trim() !== "" ? Number(reported) : reported;
  return typeof cost === "number" && Number.isFinite(cost) && cost >= 0 ? cost : undefined;
}
