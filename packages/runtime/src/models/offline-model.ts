import type { LanguageModelV4, LanguageModelV4CallOptions } from "@ai-sdk/provider";
import { composeDirect, composeOutcomes } from "./offline/compose.ts";
import { decideNextStep } from "./offline/next-step.ts";
import { toToolFacts } from "./offline/plan.ts";
import { readTurn } from "./offline/read-prompt.ts";
import { summarize } from "./offline/summarize.ts";
import { buildInput } from "./offline/tool-input.ts";
import type { ModelOutput, OutputCall } from "./model-output.ts";
import { estimateUsage, promptText, shortHash, streamOf, toGenerateResult, toStreamParts } from "./model-output.ts";

export const OFFLINE_PROVIDER = "eve";
export const OFFLINE_MODEL = "offline";

/**
 * The model an agent answers with when no credential is set. It is deterministic and does no I/O: it reads the
 * last message, calls the tools and agents that the message names, hands results on where a clause speaks of
 * them, and replies with every result, saying that it is the offline model.
 *
 * @example
 * streamText({ model: offlineModel(), prompt: "Ask research what a tide is, and let the reviewer check it.", tools });
 */
export function offlineModel(): LanguageModelV4 {
  return {
    specificationVersion: "v4",
    provider: OFFLINE_PROVIDER,
    modelId: OFFLINE_MODEL,
    supportedUrls: { "*/*": [/.*/] },
    async doGenerate(options) {
      options.abortSignal?.throwIfAborted();
      return toGenerateResult(respond(options));
    },
    async doStream(options) {
      options.abortSignal?.throwIfAborted();
      return { stream: streamOf(toStreamParts(respond(options))) };
    },
  };
}

function respond(options: LanguageModelV4CallOptions): ModelOutput {
  const summary = summarize(options.prompt);
  if (summary !== undefined) return toOutput(options, summary, []);
  const turn = readTurn(options.prompt);
  const tools = toToolFacts(options);
  const step = decideNextStep(turn, tools);
  if (step.kind === "wait") return toOutput(options, "", []);
  if (step.kind === "calls") {
    const seed = shortHash(promptText(options.prompt));
    return toOutput(
      options,
      "",
      step.calls.map(({ key, name, input }) => ({
        callId: `offline_${seed}_${key}`,
        name,
        input: JSON.stringify(input),
      })),
    );
  }
  const message = turn.messages.at(-1);
  const delegated = message?.delegated ?? false;
  const reply =
    step.outcomes.length > 0
      ? composeOutcomes(step.outcomes, delegated)
      : composeDirect(message?.text ?? "", delegated, tools);
  return toOutput(options, structured(options, reply, message?.text ?? ""), []);
}

/** With a schema the reply itself becomes the value. */
function structured({ responseFormat }: LanguageModelV4CallOptions, reply: string, clause: string): string {
  if (responseFormat?.type !== "json") return reply;
  return JSON.stringify(
    responseFormat.schema === undefined ? { text: reply } : buildInput(responseFormat.schema, { text: reply, clause }),
  );
}

function toOutput(options: LanguageModelV4CallOptions, text: string, calls: readonly OutputCall[]): ModelOutput {
  return {
    modelId: OFFLINE_MODEL,
    chunks: toChunks(text),
    calls,
    finishReason: calls.length > 0 ? "tool-calls" : "stop",
    usage: estimateUsage(options, text + calls.map((call) => call.input).join("")),
  };
}

/** At most four pieces, cut after white space. */
function toChunks(text: string): string[] {
  const size = Math.max(24, Math.ceil(text.length / 4));
  return text.match(new RegExp(`[\\s\\S]{1,${size}}(?:\\s+|$)|[\\s\\S]{1,${size}}`, "g")) ?? [];
}
