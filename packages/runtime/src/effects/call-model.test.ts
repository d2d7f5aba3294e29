import type { LanguageModelV4StreamPart } from "@ai-sdk/provider";
import { expect, test } from "vitest";
import { call, createTestMember, finish, SAID, streaming } from "./call-model.fixture.ts";

const NO_REASON = { ...finish("other"), finishReason: { unified: "other", raw: undefined } } as const;

const run = (parts: readonly LanguageModelV4StreamPart[], ending?: Parameters<typeof streaming>[1]) =>
  call(createTestMember({ model: streaming(parts, ending) }));

test("a whole response, streamed as it comes", async () => {
  const { result, streamed } = await run([...SAID, finish("stop")]);
  expect(result).toEqual({
    kind: "model.responded",
    text: "The answer is 4",
    reasoning: "",
    finishReason: "stop",
    calls: [],
    usage: { inputTokens: 7, outputTokens: 3, cacheReadTokens: 2, cacheWriteTokens: 0 },
  });
  expect(streamed).toEqual(["The answer is 4"]);
});

test.each<[string, readonly LanguageModelV4StreamPart[], Parameters<typeof streaming>[1], boolean]>([
  ["a stream that just ends", SAID, undefined, true],
  ["a connection that breaks", SAID, (stream) => stream.error(new TypeError("terminated")), true],
  ["a response the provider calls an error", [...SAID, finish("error")], undefined, true],
  ["a response the provider calls interrupted", [...SAID, finish("interrupted")], undefined, true],
  ["a response that its provider closes without a reason", [...SAID, NO_REASON], undefined, true],
  ["a response stopped by a content filter", [...SAID, finish("content-filter")], undefined, false],
])("§19 %s after some text is a failure, not a reply", async (_name, parts, ending, retryable) => {
  const { result } = await run(parts, ending);
  expect(result).toMatchObject({ kind: "model.failed", retryable });
});

test("§19 a content filter says so, and what the call cost is known", async () => {
  const { result } = await run([...SAID, finish("content-filter")]);
  expect(result).toEqual({
    kind: "model.failed",
    code: "MODEL_FAILED",
    message: "The provider's content filter stopped the reply. (test/test)",
    retryable: false,
    details: { modelId: "test/test", providerCode: "content_filter" },
    usage: { inputTokens: 7, outputTokens: 3, cacheReadTokens: 2, cacheWriteTokens: 0 },
  });
});

test("a reason that the AI SDK has no word for is the provider's own", async () => {
  const { result } = await run([...SAID, finish("other", "pause_turn")]);
  expect(result).toMatchObject({ kind: "model.responded", text: "The answer is 4", finishReason: "other" });
});

test("§19 a reply that was cut off at the output limit is one, and says so", async () => {
  const { result } = await run([...SAID, finish("length")]);
  expect(result).toMatchObject({ kind: "model.responded", text: "The answer is 4", finishReason: "length" });
});

test("§19 an error in the stream is not the last word: what the call cost may follow", async () => {
  const { result } = await run([
    ...SAID,
    { type: "error", error: { type: "overloaded_error", message: "Busy" } },
    finish("error"),
  ]);
  expect(result).toMatchObject({ kind: "model.failed", message: "Busy (test/test)", usage: { outputTokens: 3 } });
});

test("§20 a call costs what the gateway says, as a number or as text", async () => {
  for (const [cost, costUsd] of [
    ["0.000123", 0.000123],
    [0.5, 0.5],
    ["", undefined],
    ["free", undefined],
    [-1, undefined],
  ] as const) {
    const { result } = await run([...SAID, { ...finish("stop"), providerMetadata: { gateway: { cost } } } as never]);
    expect((result as { usage: { costUsd?: number } }).usage.costUsd).toBe(costUsd);
  }
});

test("§20 totals that a provider leaves out are the sum of their parts; thoughts are output", async () => {
  const usage = {
    inputTokens: { total: undefined, noCache: 5, cacheRead: 20, cacheWrite: 3 },
    outputTokens: { total: undefined, text: 4, reasoning: 6 },
  };
  const { result } = await run([...SAID, { ...finish("stop"), usage } as LanguageModelV4StreamPart]);
  expect(result).toMatchObject({
    usage: { inputTokens: 28, outputTokens: 10, cacheReadTokens: 20, cacheWriteTokens: 3 },
  });
});

test("a response of text and calls alone carries nothing else; any word of the provider makes it be kept", async () => {
  const called: LanguageModelV4StreamPart = { type: "tool-call", toolCallId: "c", toolName: "add", input: '{"a":1}' };
  const plain = await run([...SAID, called, finish("tool-calls")]);
  expect(plain.result).toMatchObject({ calls: [{ callId: "c", input: { a: 1 }, target: { kind: "tool" } }] });
  expect(plain.result).not.toHaveProperty("content");
  const signed = await run([...SAID, { ...called, providerMetadata: { acme: { id: "1" } } }, finish("tool-calls")]);
  expect(signed.result).toMatchObject({
    content: [
      { type: "text", length: 15 },
      { type: "call", providerMetadata: { acme: { id: "1" } } },
    ],
  });
  const late = await run([called, ...SAID.slice(1), finish("tool-calls")]);
  expect(late.result).toMatchObject({ content: [{ type: "call" }, { type: "text", length: 15 }] });
});

test("an aborted call has no result, also when the model does not mind the signal", async () => {
  const controller = new AbortController();
  const model = { ...streaming([]), doStream: () => new Promise<never>(() => controller.abort()) };
  expect((await call(createTestMember({ model }), undefined, controller.signal)).result).toBeUndefined();
});

test("the model is called as its author says", async () => {
  const seen: object[] = [];
  const model = streaming([...SAID, finish("stop")]);
  const doStream: typeof model.doStream = (options) => {
    seen.push(options);
    return model.doStream(options);
  };
  const settings = { maxOutputTokens: 9, temperature: 0.5, topK: 3, seed: 1 };
  const modelOptions = {
    ...settings,
    stopSequences: ["END"],
    providerOptions: { anthropic: { effort: "low", includePings: false } },
    promptCache: { anthropic: { ttl: "1h" } },
  } as const;
  await call(
    createTestMember({ model: { ...model, provider: "anthropic.x", doStream }, reasoning: "low", modelOptions }),
  );
  const mark = { anthropic: { cacheControl: { type: "ephemeral", ttl: "1h" } } };
  expect(seen).toMatchObject([
    {
      ...settings,
      reasoning: "low",
      stopSequences: ["END"],
      providerOptions: { anthropic: { effort: "low", includePings: false } },
      prompt: [
        { role: "system", content: "You add.", providerOptions: mark },
        { role: "user", providerOptions: mark },
      ],
    },
  ]);
  expect(seen[0]).not.toHaveProperty("timeout");
  expect(seen[0]).not.toHaveProperty("promptCache");
});
