import type { LanguageModelV4CallOptions, LanguageModelV4FinishReason } from "@ai-sdk/provider";
import { APICallError } from "@ai-sdk/provider";
import type { ModelOutput } from "../models/model-output.ts";
import { estimateUsage, promptText, shortHash } from "../models/model-output.ts";

export interface ScriptedCall {
  readonly name: string;
  /** The input object; a string is sent as it is, to play a model that writes broken JSON. */
  readonly input: unknown;
  /** Default: derived from the prompt, so a retried call of the model repeats it. */
  readonly callId?: string;
}

export interface ScriptedFailure {
  readonly message: string;
  /** Default `false`. */
  readonly retryable?: boolean;
}

/** One response of a scripted model. An empty step is an empty response. */
export interface ScriptedStep {
  /** One text, or the chunks it is streamed in. */
  readonly text?: string | readonly string[];
  readonly calls?: readonly ScriptedCall[];
  readonly reasoning?: string;
  /** Default: `tool-calls` with calls, else `stop`. */
  readonly finishReason?: LanguageModelV4FinishReason["unified"];
  /** The call fails: before anything is streamed, or as `errorAfter` says. */
  readonly error?: Error | ScriptedFailure;
  /** Streams this many text chunks first, then fails; with more than there are, after the calls too. */
  readonly errorAfter?: number;
  /** How a stream fails: the connection breaks (default), or the provider sends an error and ends it. */
  readonly errorAs?: "break" | "part";
  /** Milliseconds before the response; ends early when the call is aborted. */
  readonly delayMs?: number;
  /** Milliseconds before each text chunk but the first. */
  readonly chunkDelayMs?: number;
  readonly usage?: { readonly inputTokens?: number; readonly outputTokens?: number };
  /** Checks the request; what it throws fails the call and, in the end, the test. */
  readonly expect?: (request: ScriptedRequest) => void;
}

/** What the model was called with. */
export interface ScriptedRequest {
  readonly prompt: LanguageModelV4CallOptions["prompt"];
  /** Names of the tools it was offered. */
  readonly tools: readonly string[];
  readonly options: LanguageModelV4CallOptions;
  /** Place of the step in the script, from 0. */
  readonly index: number;
}

/** A step, or a function that makes it from the request. */
export type ScriptEntry = ScriptedStep | ((request: ScriptedRequest) => ScriptedStep | Promise<ScriptedStep>);

export function toRequest(options: LanguageModelV4CallOptions, index: number): ScriptedRequest {
  return { prompt: options.prompt, tools: (options.tools ?? []).map((tool) => tool.name), options, index };
}

export function toModelOutput(step: ScriptedStep, { options, index }: ScriptedRequest, modelId: string): ModelOutput {
  const seed = shortHash(promptText(options.prompt));
  const calls = (step.calls ?? []).map(({ name, input, callId }, at) => ({
    callId: callId ?? `call_${seed}_${index}_${at}`,
    name,
    input: typeof input === "string" ? input : JSON.stringify(input ?? {}),
  }));
  const chunks = (typeof step.text === "string" ? [step.text] : [...(step.text ?? [])]).filter((chunk) => chunk !== "");
  const estimate = estimateUsage(options, chunks.join("") + calls.map((call) => call.input).join(""));
  const { inputTokens = estimate.inputTokens.total, outputTokens = estimate.outputTokens.total } = step.usage ?? {};
  return {
    modelId,
    ...(step.reasoning === undefined ? {} : { reasoning: step.reasoning }),
    chunks,
    calls,
    finishReason: step.finishReason ?? (calls.length > 0 ? "tool-calls" : "stop"),
    usage: {
      inputTokens: { total: inputTokens, noCache: inputTokens, cacheRead: 0, cacheWrite: 0 },
      outputTokens: { total: outputTokens, text: outputTokens, reasoning: 0 },
    },
  };
}

/** The error a provider would throw: an `APICallError`, by which the AI SDK tells transient from terminal. */
export function toError(failure: Error | ScriptedFailure): Error {
  if (failure instanceof Error) return failure;
  const { message, retryable = false } = failure;
  return new APICallError({
    message,
    url: "https://scripted.invalid/",
    requestBodyValues: {},
    statusCode: retryable ? 503 : 400,
    isRetryable: retryable,
  });
}

/** One line about a step, for the list of those that were not played. */
export function describeEntry(entry: ScriptEntry, index: number): string {
  if (typeof entry === "function") return `${index + 1}. (a function)`;
  const text = typeof entry.text === "string" ? entry.text : entry.text?.join("");
  const parts = [
    entry.error === undefined ? "" : `error ${JSON.stringify(entry.error.message)}`,
    text === undefined || text === ""
      ? ""
      : `text ${JSON.stringify(text.length > 60 ? `${text.slice(0, 59)}…` : text)}`,
    ...(entry.calls ?? []).map((call) => `call ${call.name}`),
  ].filter((part) => part !== "");
  return `${index + 1}. ${parts.length === 0 ? "(empty response)" : parts.join(", ")}`;
}
