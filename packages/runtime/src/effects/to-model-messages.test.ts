import { modelMessageSchema } from "ai";
import { describe, expect, test } from "vitest";
import {
  agentCall,
  calls,
  deliver,
  replied,
  says,
  startTurn,
  toolCall,
  toolSettled,
} from "../engine/session.fixture.ts";
import type { ContentPart, HistoryItem } from "../engine/state.ts";
import { CANCELLED_CALL } from "../engine/text.ts";
import { toModelMessages } from "./to-model-messages.ts";

describe("toModelMessages", () => {
  test("every call has its result right behind it, whatever came between", () => {
    const session = startTurn();
    session.apply(calls(toolCall("t1"), agentCall("c1")));
    session.apply(deliver("hurry"));
    session.apply(toolSettled("t1", { sum: 3 }));
    session.apply(replied(["c1"], "42"));
    session.apply(says("wait"));
    const messages = toModelMessages(session.state.history);
    for (const message of messages) modelMessageSchema.parse(message);
    expect(messages.map(({ role }) => role)).toEqual([
      "user",
      "assistant",
      "tool",
      "user",
      "user",
      "assistant",
      "user",
      "user",
    ]);
    expect(messages[2]).toMatchObject({
      content: [
        { toolCallId: "t1", output: { type: "json", value: { sum: 3 } } },
        { toolCallId: "c1", output: { type: "text" } },
      ],
    });
  });

  test("a call that was stopped says so", () => {
    const session = startTurn();
    session.apply(calls(toolCall("t1")));
    session.apply({ kind: "cancel" });
    session.apply(deliver("again"));
    expect(JSON.stringify(toModelMessages(session.state.history))).toContain(CANCELLED_CALL);
  });

  test.each<[string, ContentPart[] | undefined]>([
    ["plain", undefined],
    ["with what the provider wants back", Array.from({ length: 4 }, () => ({ type: "call" }))],
  ])("calls that a model made up are valid when it reads them again: %s", (_, content) => {
    const made = [
      { callId: "a", toolName: "add", input: '{"a": 1' },
      { callId: "b", toolName: "read the file!", input: { path: "x" } },
      { callId: "c", toolName: "x".repeat(80), input: [1] },
      { callId: "d", toolName: "", input: null },
    ];
    const messages = toModelMessages([
      { role: "assistant", stepKey: "turn_0/0", text: "", calls: made, ...(content && { content }) },
    ]);
    for (const message of messages) modelMessageSchema.parse(message);
    const names = ["add", "read_the_file_", "x".repeat(64), "_"];
    const inputs = [{}, { path: "x" }, {}, {}];
    expect(messages[0]).toMatchObject({
      content: names.map((toolName, index) => ({ toolName, input: inputs[index] })),
    });
    expect(messages[1]).toMatchObject({ content: names.map((toolName) => ({ toolName })) });
  });

  test("a response comes back in its order, with what its provider gave it", () => {
    const signed = (signature: string) => ({ acme: { signature } });
    const [spoken] = toModelMessages([
      {
        role: "assistant",
        stepKey: "turn_0/0",
        text: "FirstThen",
        calls: [
          { callId: "a", toolName: "add", input: { a: 1 } },
          { callId: "b", toolName: "add", input: { a: 2 } },
        ],
        content: [
          { type: "reasoning", text: "Hm.", providerMetadata: signed("r0") },
          { type: "text", length: 5 },
          { type: "call", providerMetadata: signed("c0") },
          { type: "reasoning", text: "", providerMetadata: signed("hidden") },
          { type: "text", length: 4, providerMetadata: signed("t1") },
          { type: "text", length: 0, providerMetadata: signed("empty") },
          { type: "custom", kind: "acme.note", providerMetadata: signed("x") },
          { type: "call" },
        ],
      },
    ]);
    expect(modelMessageSchema.parse(spoken)).toEqual({
      role: "assistant",
      content: [
        { type: "reasoning", text: "Hm.", providerOptions: signed("r0") },
        { type: "text", text: "First" },
        { type: "tool-call", toolCallId: "a", toolName: "add", input: { a: 1 }, providerOptions: signed("c0") },
        { type: "reasoning", text: "", providerOptions: signed("hidden") },
        { type: "text", text: "Then", providerOptions: signed("t1") },
        { type: "text", text: "", providerOptions: signed("empty") },
        { type: "custom", kind: "acme.note", providerOptions: signed("x") },
        { type: "tool-call", toolCallId: "b", toolName: "add", input: { a: 2 } },
      ],
    });
  });

  test("blank texts are left out: providers refuse to read them", () => {
    const item = { role: "assistant", stepKey: "turn_0/0" } as const;
    const call = { callId: "a", toolName: "add", input: {} };
    expect(toModelMessages([{ ...item, text: " \n", calls: [] }])).toEqual([]);
    expect(toModelMessages([{ ...item, text: " \n", calls: [call] }])[0]!.content).toHaveLength(1);
    const content = [{ type: "text", length: 2 }, { type: "call" }] as const;
    expect(toModelMessages([{ ...item, text: "\n\n", calls: [call], content }])[0]!.content).toHaveLength(1);
    const file = { type: "file", mediaType: "text/plain", data: "aGk=" } as const;
    expect(toModelMessages([{ role: "user", parts: [{ type: "text", text: " " }, file] }])[0]!.content).toHaveLength(1);
  });

  test("a failed text is an error to the model", () => {
    const session = startTurn();
    session.apply(calls(toolCall("t1")));
    session.apply({ kind: "tool.settled", callId: "t1", status: "failed", output: "TOOL_FAILED: x" });
    expect(toModelMessages(session.state.history)[2]).toMatchObject({ content: [{ output: { type: "error-text" } }] });
  });

  test("§6.9 what the model has read stays as it was, turn after turn", () => {
    const session = startTurn();
    let before = JSON.stringify(toModelMessages(session.state.history)).slice(0, -1);
    for (let turn = 0; turn < 3; turn++) {
      session.apply(calls(toolCall("call_0")));
      const effect = session.effects()[0]!;
      session.apply(toolSettled(effect.kind === "tool" ? effect.call.callId : "", `result ${turn}`));
      session.apply(says("ok"));
      session.apply(deliver("more"));
      const now = JSON.stringify(toModelMessages(session.state.history)).slice(0, -1);
      expect(now.startsWith(before)).toBe(true);
      before = now;
    }
    expect(before).toContain("result 0");
  });

  test("files go by URL or by data", () => {
    const parts = [
      { type: "text", text: "look" },
      { type: "file", mediaType: "image/png", url: "https://example.com/a.png" },
      { type: "file", mediaType: "text/plain", data: "aGk=", filename: "a.txt" },
    ] as const;
    const [message] = toModelMessages([{ role: "user", parts } satisfies HistoryItem]);
    expect(modelMessageSchema.parse(message)).toMatchObject({
      content: [
        { type: "text" },
        { type: "file", data: new URL("https://example.com/a.png") },
        { type: "file", data: "aGk=", filename: "a.txt" },
      ],
    });
  });
});

test("context comes right before what it belongs to", () => {
  const messages = toModelMessages([
    { role: "note", text: "notes on what was", summary: true, context: ["on page 1"] },
    { role: "user", parts: [{ type: "text", text: "go" }], context: ["on page 2", "in a hurry"] },
  ]);
  for (const message of messages) modelMessageSchema.parse(message);
  expect(messages.map(({ content }) => content)).toEqual([
    "on page 1",
    "notes on what was",
    "on page 2",
    "in a hurry",
    [{ type: "text", text: "go" }],
  ]);
});
