import type {
  LanguageModelV4CallOptions,
  LanguageModelV4Content,
  LanguageModelV4FinishReason,
  LanguageModelV4GenerateResult,
  LanguageModelV4Message,
  LanguageModelV4StreamPart,
  LanguageModelV4Usage,
} from "@ai-sdk/provider";

export interface OutputCall {
  readonly callId: string;
  readonly name: string;
  /** JSON text, as a provider sends it. */
  readonly input: string;
}

/** One response of a model that runs in this process. */
export interface ModelOutput {
  readonly modelId: string;
  readonly reasoning?: string;
  readonly chunks: readonly string[];
  readonly calls: readonly OutputCall[];
  readonly finishReason: LanguageModelV4FinishReason["unified"];
  readonly usage: LanguageModelV4Usage;
}

export function toStreamParts(output: ModelOutput): LanguageModelV4StreamPart[] {
  const parts: LanguageModelV4StreamPart[] = [
    { type: "stream-start", warnings: [] },
    { type: "response-metadata", modelId: output.modelId },
  ];
  if (output.reasoning !== undefined) {
    parts.push(
      { type: "reasoning-start", id: "reasoning" },
      { type: "reasoning-delta", id: "reasoning", delta: output.reasoning },
      { type: "reasoning-end", id: "reasoning" },
    );
  }
  if (output.chunks.length > 0) {
    parts.push({ type: "text-start", id: "text" });
    for (const delta of output.chunks) parts.push({ type: "text-delta", id: "text", delta });
    parts.push({ type: "text-end", id: "text" });
  }
  for (const { callId, name, input } of output.calls) {
    parts.push(
      { type: "tool-input-start", id: callId, toolName: name },
      { type: "tool-input-delta", id: callId, delta: input },
      { type: "tool-input-end", id: callId },
      { type: "tool-call", toolCallId: callId, toolName: name, input },
    );
  }
  parts.push({ type: "finish", finishReason: finishReasonOf(output), usage: output.usage });
  return parts;
}

/** A stream that takes one part at a time, so that a reader who stops also stops the source. */
export function streamOf(
  parts: Iterable<LanguageModelV4StreamPart> | AsyncIterable<LanguageModelV4StreamPart>,
): ReadableStream<LanguageModelV4StreamPart> {
  const iterator = Symbol.asyncIterator in parts ? parts[Symbol.asyncIterator]() : parts[Symbol.iterator]();
  return new ReadableStream<LanguageModelV4StreamPart>(
    {
      async pull(controller) {
        const { done, value } = await iterator.next();
        if (done) controller.close();
        else controller.enqueue(value);
      },
      async cancel() {
        await iterator.return?.();
      },
    },
    { highWaterMark: 0 },
  );
}

export function toGenerateResult(output: ModelOutput): LanguageModelV4GenerateResult {
  const content: LanguageModelV4Content[] = [];
  const text = output.chunks.join("");
  if (output.reasoning !== undefined) content.push({ type: "reasoning", text: output.reasoning });
  if (text !== "") content.push({ type: "text", text });
  for (const { callId, name, input } of output.calls) {
    content.push({ type: "tool-call", toolCallId: callId, toolName: name, input });
  }
  return {
    content,
    finishReason: finishReasonOf(output),
    usage: output.usage,
    response: { modelId: output.modelId },
    warnings: [],
  };
}

/** Usage estimated at four characters a token; deterministic. */
export function estimateUsage(options: LanguageModelV4CallOptions, outputText: string): LanguageModelV4Usage {
  const input = countTokens(promptText(options.prompt)) + countTokens(JSON.stringify(options.tools ?? ""));
  const output = countTokens(outputText);
  return {
    inputTokens: { total: input, noCache: input, cacheRead: 0, cacheWrite: 0 },
    outputTokens: { total: output, text: output, reasoning: 0 },
  };
}

/** All text of a prompt, for counting and hashing; files count as nothing. */
export function promptText(prompt: readonly LanguageModelV4Message[]): string {
  return prompt.map((message) => `${message.role}\n${messageText(message)}`).join("\n");
}

/** A short hash (cyrb53) for ids that must come out the same for the same prompt. */
export function shortHash(text: string): string {
  let low = 0xdeadbeef;
  let high = 0x41c6ce57;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    low = Math.imul(low ^ code, 2_654_435_761);
    high = Math.imul(high ^ code, 1_597_334_677);
  }
  low = Math.imul(low ^ (low >>> 16), 2_246_822_507) ^ Math.imul(high ^ (high >>> 13), 3_266_489_909);
  high = Math.imul(high ^ (high >>> 16), 2_246_822_507) ^ Math.imul(low ^ (low >>> 13), 3_266_489_909);
  return (4_294_967_296 * (2_097_151 & high) + (low >>> 0)).toString(36).padStart(11, "0");
}

function messageText(message: LanguageModelV4Message): string {
  if (message.role === "system") return message.content;
  return message.content
    .map((part) => {
      if (part.type === "text" || part.type === "reasoning") return part.text;
      if (part.type === "tool-call") return `${part.toolName}${JSON.stringify(part.input) ?? ""}`;
      if (part.type === "tool-result") return JSON.stringify(part.output);
      return "";
    })
    .join("\n");
}

function countTokens(text: string): number {
  return Math.ceil(text.length / 4);
}

function finishReasonOf(output: ModelOutput): LanguageModelV4FinishReason {
  return { unified: output.finishReason, raw: output.finishReason };
}
