import type { LanguageModelV4, LanguageModelV4StreamPart } from "@ai-sdk/provider";
import { expect, test } from "vitest";
import { defineAgent } from "../define/define-agent.ts";
import type { EffectInput } from "../engine/input.ts";
import { startTurn } from "../engine/session.fixture.ts";
import { createRegistry } from "../registry/registry.ts";
import { createTestSandboxes } from "../sandbox/sandboxes.fixture.ts";
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

async function call(parts: readonly LanguageModelV4StreamPart[], ending: Ending = (stream) => stream.close()) {
  const model: LanguageModelV4 = {
    specificationVersion: "v4",
    provider: "test",
    modelId: "test",
    supportedUrls: {},
    doGenerate: () => Promise.reject(new Error("only streams")),
    doStream: async () => ({
      stream: new ReadableStream({
        start: (controller) => {
          for (const part of parts) controller.enqueue(part);
          ending(controller);
        },
      }),
    }),
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
      sandboxes: createTestSandboxes(() => registry),
      publicBase: () => "",
      log: () => {},
    },
    { id: "model:turn_0:0:1", kind: "model", failures: 0 },
    {
      state: startTurn().state,
      signal: new AbortController().signal,
      steered: new AbortController().signal,
      interrupted: false,
      stream: (delta) => void (delta.type === "message.appended" && streamed.push(delta.data.messageDelta)),
    },
  );
  return { result: result as EffectInput, streamed };
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
