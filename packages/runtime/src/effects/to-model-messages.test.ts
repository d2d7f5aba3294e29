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
import type { HistoryItem } from "../engine/state.ts";
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

  test.each([
    ["kept", undefined],
    ["in the provider's form", true],
  ])("calls that a model made up are valid when it reads them again: %s", (_, isNative) => {
    const made = [
      { callId: "a", toolName: "add", input: '{"a": 1' },
      { callId: "b", toolName: "read the file!", input: { path: "x" } },
      { callId: "c", toolName: "x".repeat(80), input: [1] },
      { callId: "d", toolName: "", input: null },
    ];
    const content = made.map(({ callId, toolName, input }) => ({
      type: "tool-call",
      toolCallId: callId,
      toolName,
      input,
    }));
    const messages = toModelMessages([
      {
        role: "assistant",
        stepKey: "turn_0/0",
        text: "",
        calls: made,
        ...(isNative === undefined ? {} : { native: { role: "assistant", content } }),
      },
    ]);
    for (const message of messages) modelMessageSchema.parse(message);
    const names = ["add", "read_the_file_", "x".repeat(64), "_"];
    const inputs = [{}, { path: "x" }, {}, {}];
    expect(messages[0]).toMatchObject({
      content: names.map((toolName, index) => ({ toolName, input: inputs[index] })),
    });
    expect(messages[1]).toMatchObject({ content: names.map((toolName) => ({ toolName })) });
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

test("what was converted once is not converted again, except a call that had no result yet", () => {
  const asked = { role: "user", parts: [{ type: "text", text: "go" }] } as const;
  const called = {
    role: "assistant",
    stepKey: "turn_0/0",
    text: "",
    calls: [{ callId: "c1", toolName: "a", input: {} }],
  } as const;
  const before = toModelMessages([asked, called]);
  const answered = { role: "tool", callId: "c1", toolName: "a", output: "done", failed: false } as const;
  const after = toModelMessages([asked, called, answered]);
  expect(after[0]).toBe(before[0]);
  expect(JSON.stringify(before)).toContain(CANCELLED_CALL);
  expect(JSON.stringify(after)).toContain("done");
  expect(toModelMessages([asked, called, answered])[2]).toBe(after[2]);
});
