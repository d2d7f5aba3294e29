import { createAnthropic } from "@ai-sdk/anthropic";
import { createOpenAI } from "@ai-sdk/openai";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { createGateway } from "ai";
import { describe, expect, onTestFinished, test } from "vitest";
import { answering, messageStart, sending, serveProvider } from "../effects/call-model.fixture.ts";
import { scriptedModel } from "../testing/scripted-model.ts";
import { converse } from "./model-turn.fixture.ts";

type Json = Record<string, unknown>;

describe("§19 a provider that fails", () => {
  test("is called three times in all, and the turn fails once with its reason", async () => {
    const provider = await serveProvider(answering(500, { error: { message: "Oops." } }));
    const model = createOpenAICompatible({ name: "acme", baseURL: provider.url })("m");
    const events = await (await converse({ model })).turn("hi");
    expect(provider.requests).toHaveLength(3);
    expect(events.filter(({ type }) => type === "step.failed")).toHaveLength(3);
    expect(events.filter(({ type }) => type === "turn.failed")).toMatchObject([
      { data: { code: "MODEL_FAILED", message: "Oops. (acme.chat/m, HTTP 500)" } },
    ]);
  });

  test("does better the next time: the reply is whole, and nothing of the failed attempt is in it", async () => {
    const chunk = (delta: Json, end: Json = {}) => ({ id: "1", choices: [{ index: 0, delta, ...end }] });
    const provider = await serveProvider(
      sending([chunk({ content: "Half" })], (response) => response.destroy()),
      sending([chunk({ content: "Whole" }), chunk({}, { finish_reason: "stop" }), "[DONE]"]),
    );
    const model = createOpenAICompatible({ name: "acme", baseURL: provider.url })("m");
    const events = await (await converse({ model })).turn("hi");
    expect(events.filter(({ type }) => type === "message.completed")).toMatchObject([{ data: { message: "Whole" } }]);
    expect(provider.requests[1]).toEqual(provider.requests[0]);
  });

  test("is not asked again when it refuses for good", async () => {
    const provider = await serveProvider(answering(401, { error: { message: "Bad key.", code: "invalid_api_key" } }));
    const model = createOpenAICompatible({ name: "acme", baseURL: provider.url })("m");
    await (await converse({ model })).turn("hi");
    expect(provider.requests).toHaveLength(1);
  });
});

describe("§19 a child that thinks and says nothing", () => {
  test("is asked once more, then the call fails", async () => {
    const lead = scriptedModel(
      [{ calls: [{ name: "helper", input: { message: "go" } }] }, {}, { text: "It did not answer." }],
      { onTestFinished },
    );
    const helper = scriptedModel([{ reasoning: "Hm." }, { reasoning: "Hm again." }], { onTestFinished });
    const events = await (await converse({ model: lead }, { model: helper })).turn("hi");
    expect(events.find(({ type }) => type === "task.settled")?.data).toMatchObject({
      status: "failed",
      error: { code: "EMPTY_REPLY" },
    });
  });
});

const START = messageStart({
  input_tokens: 10,
  output_tokens: 1,
  cache_read_input_tokens: 100,
  cache_creation_input_tokens: 20,
});
const block = (index: number, content_block: Json, ...deltas: Json[]): Json[] => [
  { type: "content_block_start", index, content_block },
  ...deltas.map((delta) => ({ type: "content_block_delta", index, delta })),
  { type: "content_block_stop", index },
];
const stop = (stop_reason: string): Json[] => [
  { type: "message_delta", delta: { stop_reason, stop_sequence: null }, usage: { output_tokens: 30 } },
  { type: "message_stop" },
];
const thinks = (index: number, thinking: string, signature: string): Json[] =>
  block(
    index,
    { type: "thinking", thinking: "", signature: "" },
    { type: "thinking_delta", thinking },
    { type: "signature_delta", signature },
  );
const calls = (index: number, id: string, a: number): Json[] =>
  block(
    index,
    { type: "tool_use", id, name: "add", input: {} },
    { type: "input_json_delta", partial_json: `{"a":${a}}` },
  );

describe("what a provider must get back", () => {
  test("Anthropic: thoughts with their signatures, in order with text and calls, also after a restart", async () => {
    const provider = await serveProvider(
      sending([
        START,
        ...thinks(0, "Add first.", "c2ln/1=="),
        ...block(
          1,
          { type: "text", text: "" },
          { type: "text_delta", text: "Let me " },
          { type: "text_delta", text: "add." },
        ),
        ...block(2, { type: "redacted_thinking", data: "b3BhcXVl" }),
        ...calls(3, "toolu_1", 1),
        ...calls(4, "toolu_2", 2),
        ...stop("tool_use"),
      ]),
      sending([
        START,
        ...thinks(0, "Done.", "c2ln/2=="),
        ...block(1, { type: "text", text: "" }, { type: "text_delta", text: "2 and 3" }),
        ...stop("end_turn"),
      ]),
      sending([
        START,
        ...block(0, { type: "text", text: "" }, { type: "text_delta", text: "Bye" }),
        ...stop("end_turn"),
      ]),
    );
    const model = createAnthropic({ baseURL: provider.url, apiKey: "k" })("claude-x");
    const chat = await converse({ model });
    const events = await chat.turn("add");
    await chat.restart();
    await chat.turn("thanks");
    const [, second, third] = provider.requests.map(({ messages }) => withoutMarks(messages) as Json[]);
    const first = [
      { type: "thinking", thinking: "Add first.", signature: "c2ln/1==" },
      { type: "text", text: "Let me add." },
      { type: "redacted_thinking", data: "b3BhcXVl" },
      { type: "tool_use", id: "toolu_1", name: "add", input: { a: 1 } },
      { type: "tool_use", id: "toolu_2", name: "add", input: { a: 2 } },
    ];
    expect(second![1]).toEqual({ role: "assistant", content: first });
    expect(second![2]).toMatchObject({
      role: "user",
      content: [{ tool_use_id: "toolu_1" }, { tool_use_id: "toolu_2" }],
    });
    expect(third!.slice(0, 3)).toEqual(second);
    expect(third![3]).toEqual({
      role: "assistant",
      content: [
        { type: "thinking", thinking: "Done.", signature: "c2ln/2==" },
        { type: "text", text: "2 and 3" },
      ],
    });
    expect(JSON.stringify(events)).not.toMatch(/c2ln|b3BhcXVl/);
    expect(events.find(({ type }) => type === "reasoning.completed")?.data).toMatchObject({ reasoning: "Add first." });
    // §20: what was read from the cache, and written to it, is part of the input.
    expect(events.at(-1)!.data).toMatchObject({
      usage: { inputTokens: 260, outputTokens: 60, cacheReadTokens: 200, cacheWriteTokens: 40 },
    });
  });

  test("Anthropic: the prompt is marked where it is to be kept, at most four times", async () => {
    const provider = await serveProvider(
      sending([START, ...calls(0, "toolu_1", 1), ...stop("tool_use")]),
      sending([START, ...block(0, { type: "text", text: "" }, { type: "text_delta", text: "2" }), ...stop("end_turn")]),
    );
    const model = createAnthropic({ baseURL: provider.url, apiKey: "k" })("claude-x");
    await (await converse({ model })).turn("add");
    const marks = provider.requests.map(({ system, messages }) => [
      JSON.stringify(system).split("cache_control").length - 1,
      ...(messages as Json[]).map((message) => JSON.stringify(message).split("cache_control").length - 1),
    ]);
    expect(marks).toEqual([
      [1, 1],
      [1, 1, 0, 1],
    ]);
  });

  test("OpenAI: encrypted thoughts and the ids of items", async () => {
    const item = (output_index: number, type: string, done: Json, added: Json = {}): Json[] => [
      { type: "response.output_item.added", output_index, item: { type, ...added } },
      { type: "response.output_item.done", output_index, item: { type, ...done } },
    ];
    const created = {
      type: "response.created",
      response: { id: "resp_1", object: "response", created_at: 1, model: "gpt-x" },
    };
    const completed = {
      type: "response.completed",
      response: {
        id: "resp_1",
        object: "response",
        status: "completed",
        model: "gpt-x",
        usage: { input_tokens: 5, output_tokens: 7, output_tokens_details: { reasoning_tokens: 4 } },
      },
    };
    const call = { id: "fc_1", call_id: "call_1", name: "add", arguments: '{"a":1}', status: "completed" };
    const thought = { id: "rs_1", encrypted_content: "gAAAA==", summary: [] };
    const provider = await serveProvider(
      sending([
        created,
        ...item(0, "reasoning", thought, { id: "rs_1", encrypted_content: "", summary: [] }),
        ...item(1, "function_call", call, { ...call, arguments: "" }),
        completed,
      ]),
      sending([
        created,
        { type: "response.output_item.added", output_index: 0, item: { type: "message", id: "msg_1" } },
        { type: "response.output_text.delta", item_id: "msg_1", output_index: 0, content_index: 0, delta: "2" },
        { type: "response.output_item.done", output_index: 0, item: { type: "message", id: "msg_1", content: [] } },
        completed,
      ]),
    );
    const model = createOpenAI({ baseURL: provider.url, apiKey: "k" }).responses("gpt-5");
    const events = await (
      await converse({ model, modelOptions: { providerOptions: { openai: { store: false } } } })
    ).turn("add");
    const [first, second] = provider.requests;
    expect(second!["input"]).toMatchObject([
      {},
      {},
      { type: "reasoning", encrypted_content: "gAAAA==", summary: [] },
      { type: "function_call", call_id: "call_1", name: "add", arguments: '{"a":1}' },
      { type: "function_call_output", call_id: "call_1" },
    ]);
    expect(first!["prompt_cache_key"]).toMatch(/^[0-9a-f]{32}$/);
    expect(second!["prompt_cache_key"]).toBe(first!["prompt_cache_key"]);
    expect(events.at(-1)!.data).toMatchObject({ usage: { inputTokens: 10, outputTokens: 14 } });
  });

  test("others: thoughts without a signature, which some refuse to miss", async () => {
    const chunk = (delta: Json, end: Json = {}) => ({ id: "1", choices: [{ index: 0, delta, ...end }] });
    const call = { index: 0, id: "c1", type: "function", function: { name: "add", arguments: '{"a":1}' } };
    const provider = await serveProvider(
      sending([
        chunk({ reasoning_content: "Add " }),
        chunk({ reasoning_content: "them." }),
        chunk({ tool_calls: [call] }),
        chunk({}, { finish_reason: "tool_calls" }),
        "[DONE]",
      ]),
      sending([chunk({ content: "2" }), chunk({}, { finish_reason: "stop" }), "[DONE]"]),
    );
    const model = createOpenAICompatible({ name: "acme", baseURL: provider.url })("m");
    await (await converse({ model })).turn("add");
    expect((provider.requests[1]!["messages"] as Json[])[2]).toMatchObject({
      role: "assistant",
      reasoning_content: "Add them.",
      tool_calls: [{ id: "c1" }],
    });
  });
});

test("§20 prices add up over the steps and turns of a session, without noise", async () => {
  const says = (cost: string) =>
    sending([
      { type: "stream-start", warnings: [] },
      { type: "text-start", id: "0" },
      { type: "text-delta", id: "0", delta: "ok" },
      { type: "text-end", id: "0" },
      {
        type: "finish",
        finishReason: { unified: "stop", raw: "stop" },
        usage: { inputTokens: { total: 5 }, outputTokens: { total: 2 } },
        providerMetadata: { gateway: { cost } },
      },
    ]);
  const provider = await serveProvider(says("0.1"), says("0.2"), says("0.0000007"));
  const model = createGateway({ baseURL: provider.url, apiKey: "k" })("anthropic/claude-x");
  const chat = await converse({ model });
  const totals: unknown[] = [];
  for (const message of ["one", "two", "three"]) {
    const events = await chat.turn(message);
    totals.push((events.at(-1)!.data as { usage: Json }).usage["costUsd"]);
  }
  expect(totals).toEqual([0.1, 0.3, 0.3000007]);
  expect(provider.requests[0]).toMatchObject({ providerOptions: { gateway: { caching: "auto" } } });
});

test("info shows how much a model is to think", async () => {
  const chat = await converse({ model: scriptedModel([]), reasoning: "high" });
  expect(await chat.info()).toMatchObject({ agents: [{ model: { reasoning: "high" } }, {}] });
  expect(JSON.stringify(await chat.info()).split("reasoning")).toHaveLength(2);
});

/** A mark says up to where a prompt is to be kept: it is no part of what is kept. */
function withoutMarks(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value), (key, inner: unknown) => (key === "cache_control" ? undefined : inner));
}
