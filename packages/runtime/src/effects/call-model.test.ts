import type { LanguageModelV4, LanguageModelV4CallOptions, LanguageModelV4StreamPart } from "@ai-sdk/provider";
import { expect, test } from "vitest";
import { defineAgent } from "../define/define-agent.ts";
import type { EffectInput } from "../engine/input.ts";
import { message, startTurn } from "../engine/session.fixture.ts";
import type { JsonSchema } from "../engine/state.ts";
import { createRegistry } from "../registry/registry.ts";
import { createCallbackTokens } from "../transport/callback-token.ts";
import { callModel } from "./call-model.ts";

const SAID: readonly LanguageModelV4StreamPart[] = [
  { type: "stream-start", warnings: [] },
  { type: "text-start", id: "0" },
  { type: "text-delta", id: "0", delta: "The answer is 4" },
  { type: "text-end", id: "0" },
];
const USAGE = {
  inputTokens: { total: 7, noCache: 5, cacheRead: 2, cacheWrite: 0 },
  outputTokens: { total: 3, text: 3, reasoning: 0 },
};
const finish = (
  unified: "stop" | "error" | "interrupted" | "content-filter" | "other",
  raw: string | undefined = unified,
): LanguageModelV4StreamPart => ({ type: "finish", finishReason: { unified, raw }, usage: USAGE });

const NO_REASON = { ...finish("other"), finishReason: { unified: "other", raw: undefined } } as const;

type Ending = (controller: ReadableStreamDefaultController<LanguageModelV4StreamPart>) => void;

async function call(
  parts: readonly LanguageModelV4StreamPart[],
  ending: Ending = (stream) => stream.close(),
  outputSchema?: JsonSchema,
) {
  const asked: LanguageModelV4CallOptions[] = [];
  const model: LanguageModelV4 = {
    specificationVersion: "v4",
    provider: "test",
    modelId: "test",
    supportedUrls: {},
    doGenerate: () => Promise.reject(new Error("only streams")),
    doStream: async (options) => {
      asked.push(options);
      const stream = new ReadableStream<LanguageModelV4StreamPart>({
        start: (controller) => {
          for (const part of parts) controller.enqueue(part);
          ending(controller);
        },
      });
      return { stream };
    },
  };
  const node = { id: "root", name: "x", description: "", modelId: "m", tools: [], subagents: [], composition: [] };
  const registry = createRegistry(
    { version: 1, member: "x", buildId: "b", nodes: [{ ...node, source: "agent.ts" }] },
    { "agent.ts": defineAgent({ model }) },
  );
  const streamed: string[] = [];
  const result = await callModel(
    {
      registry: () => registry,
      env: {},
      tokens: createCallbackTokens("s"),
      publicBase: () => "",
      log: () => {},
    },
    { id: "model:turn_0:0:1", kind: "model", failures: 0 },
    {
      state: startTurn(outputSchema && { first: message("hello", { outputSchema }) }).state,
      signal: new AbortController().signal,
      steered: new AbortController().signal,
      interrupted: false,
      stream: (delta) => void (delta.type === "message.appended" && streamed.push(delta.data.messageDelta)),
    },
  );
  return { result: result as EffectInput, streamed, asked };
}

test("a whole response, streamed as it comes", async () => {
  const { result, streamed } = await call([...SAID, finish("stop")]);
  expect(result).toMatchObject({
    kind: "model.responded",
    text: "The answer is 4",
    finishReason: "stop",
    usage: { inputTokens: 7, outputTokens: 3, cacheReadTokens: 2 },
  });
  expect(streamed).toEqual(["The answer is 4"]);
});

test.each<[string, readonly LanguageModelV4StreamPart[], Ending | undefined, boolean]>([
  ["a stream that just ends", SAID, undefined, true],
  ["a connection that breaks", SAID, (stream) => stream.error(new TypeError("terminated")), true],
  ["a response the provider calls an error", [...SAID, finish("error")], undefined, true],
  ["a response the provider calls interrupted", [...SAID, finish("interrupted")], undefined, true],
  ["a response that its provider closes without a reason", [...SAID, NO_REASON], undefined, true],
  ["a response stopped by a content filter", [...SAID, finish("content-filter")], undefined, false],
])("§19 %s after some text is a failure, not a reply", async (_name, parts, ending, retryable) => {
  const { result } = await call(parts, ending);
  expect(result).toMatchObject({ kind: "model.failed", retryable });
});

test("a reason that the AI SDK has no word for is the provider's own", async () => {
  const { result } = await call([...SAID, finish("other", "pause_turn")]);
  expect(result).toMatchObject({ kind: "model.responded", text: "The answer is 4", finishReason: "other" });
});

const SCHEMA = { type: "object", properties: { n: { type: "number" } }, required: ["n"] } as const;
const text = (delta: string): LanguageModelV4StreamPart[] => [
  { type: "text-start", id: "0" },
  { type: "text-delta", id: "0", delta },
  { type: "text-end", id: "0" },
];

test("a turn with an output schema asks the provider for JSON of it, and says what came", async () => {
  const { result, asked } = await call([...text('{"n":4}'), finish("stop")], undefined, SCHEMA);
  expect(asked[0]?.responseFormat).toMatchObject({ type: "json", schema: SCHEMA });
  expect(result).toMatchObject({ text: '{"n":4}', output: { valid: true, value: { n: 4 } } });
  const plain = await call([...SAID, finish("stop")]);
  expect(plain.asked[0]?.responseFormat ?? { type: "text" }).toEqual({ type: "text" });
  expect(plain.result).not.toHaveProperty("output");
});

test.each([
  ["no JSON", "The answer is 4"],
  ["JSON of another form", '{"n":"four"}'],
  ["half of it", '{"n":'],
  ["nothing", ""],
])("a reply to it that is %s is a response all the same, with what is wrong", async (_, said) => {
  const { result } = await call([...(said === "" ? [] : text(said)), finish("stop")], undefined, SCHEMA);
  expect(result).toMatchObject({ kind: "model.responded", text: said, output: { valid: false } });
});

test("what is said beside a call is no reply to it", async () => {
  const asks = { type: "tool-call", toolCallId: "t1", toolName: "add", input: "{}" } as const;
  const { result } = await call([...text("let me see"), asks, finish("stop")], undefined, SCHEMA);
  expect(result).toMatchObject({ kind: "model.responded", calls: [{ callId: "t1" }] });
  expect(result).not.toHaveProperty("output");
});
