import type { LanguageModelV4, LanguageModelV4StreamPart } from "@ai-sdk/provider";
import { streamOf, toGenerateResult, toStreamParts } from "../models/model-output.ts";
import type { ScriptEntry, ScriptedRequest, ScriptedStep } from "./script.ts";
import { toError, toModelOutput } from "./script.ts";

export interface Picked {
  readonly entry: ScriptEntry;
  readonly request: ScriptedRequest;
}

/** A model whose responses come from a script; `pick` says which entry answers a call. */
export function createPlayer(
  names: { readonly provider: string; readonly modelId: string },
  pick: (options: ScriptedRequest["options"]) => Picked,
  onViolation: (error: unknown) => void = () => {},
): LanguageModelV4 {
  const begin = async (
    options: ScriptedRequest["options"],
  ): Promise<{ step: ScriptedStep; request: ScriptedRequest }> => {
    options.abortSignal?.throwIfAborted();
    const { entry, request } = pick(options);
    let step: ScriptedStep;
    try {
      step = typeof entry === "function" ? await entry(request) : entry;
      step.expect?.(request);
    } catch (error) {
      if (!options.abortSignal?.aborted) onViolation(error);
      throw error;
    }
    await pause(step.delayMs, options.abortSignal);
    if (step.error !== undefined && step.errorAfter === undefined) throw toError(step.error);
    return { step, request };
  };

  return {
    specificationVersion: "v4",
    ...names,
    supportedUrls: { "*/*": [/.*/] },
    async doGenerate(options) {
      const { step, request } = await begin(options);
      if (step.error !== undefined) throw toError(step.error);
      return toGenerateResult(toModelOutput(step, request, names.modelId));
    },
    async doStream(options) {
      const { step, request } = await begin(options);
      const parts = toStreamParts(toModelOutput(step, request, names.modelId));
      return { stream: streamOf(playParts(parts, step, options.abortSignal)) };
    },
  };
}

async function* playParts(
  parts: readonly LanguageModelV4StreamPart[],
  step: ScriptedStep,
  signal: AbortSignal | undefined,
): AsyncGenerator<LanguageModelV4StreamPart> {
  let chunks = 0;
  for (const part of parts) {
    signal?.throwIfAborted();
    const due =
      step.error !== undefined && (part.type === "finish" || (chunks >= (step.errorAfter ?? 0) && isContent(part)));
    if (due && step.error !== undefined) {
      if (step.errorAs !== "part") throw toError(step.error);
      yield { type: "error", error: toError(step.error) };
      const finish = parts.at(-1);
      if (finish?.type === "finish") yield { ...finish, finishReason: { unified: "error", raw: "error" } };
      return;
    }
    if (part.type === "text-delta" && chunks++ > 0) await pause(step.chunkDelayMs, signal);
    yield part;
  }
}

function isContent(part: LanguageModelV4StreamPart): boolean {
  return part.type === "text-delta" || part.type === "text-end" || part.type === "tool-input-start";
}

function pause(ms: number | undefined, signal: AbortSignal | undefined): Promise<void> {
  if (ms === undefined || ms <= 0) return Promise.resolve();
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", stop);
      resolve();
    }, ms);
    const stop = (): void => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    signal?.addEventListener("abort", stop, { once: true });
  });
}
