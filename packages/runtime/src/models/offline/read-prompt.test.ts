import type { LanguageModelV4Message, LanguageModelV4Prompt } from "@ai-sdk/provider";
import { describe, expect, it } from "vitest";
import { continuedReceipt, startedReceipt, taskResultMessage, tasksNote, wrapDelegation } from "../../engine/text.ts";
import { readTurn } from "./read-prompt.ts";
import { renderOutput, renderValue } from "./render-output.ts";

const user = (...texts: string[]): LanguageModelV4Message => ({
  role: "user",
  content: texts.map((text) => ({ type: "text", text })),
});
const said = (text: string): LanguageModelV4Message => ({
  role: "assistant",
  content: text === "" ? [] : [{ type: "text", text }],
});
const called = (...calls: [callId: string, name: string][]): LanguageModelV4Message => ({
  role: "assistant",
  content: calls.map(([toolCallId, toolName]) => ({ type: "tool-call", toolCallId, toolName, input: {} })),
});
const output = (toolCallId: string, value: string): LanguageModelV4Message => ({
  role: "tool",
  content: [{ type: "tool-result", toolCallId, toolName: "x", output: { type: "text", value } }],
});
const done = (taskId: string, text: string) =>
  user(taskResultMessage([{ taskId, tool: "a", status: "completed", text }]));
const states = (prompt: LanguageModelV4Prompt): string[] =>
  readTurn(prompt).calls.map(({ callId, status, text }) => `${callId} ${status} ${text}`.trim());

describe("readTurn", () => {
  it("starts after the last final reply", () => {
    const turn = readTurn([
      { role: "system", content: "Be kind." },
      user("first"),
      called(["1", "a"]),
      output("1", "x"),
      said("done"),
      user("second"),
      said(""),
      user("steered"),
    ]);
    expect(turn).toEqual({
      messages: [
        { text: "second", delegated: false },
        { text: "steered", delegated: false },
      ],
      calls: [],
      strays: [],
      callSteps: 0,
      previousReply: "done",
    });
  });

  it("takes the wrapper off a delegated message, and notes and results for neither", () => {
    const result = taskResultMessage([{ taskId: "a-123456", tool: "a", status: "failed", text: "<b> & [Tasks]" }]);
    const turn = readTurn([
      user(wrapDelegation("check it")),
      user(tasksNote([], [])),
      user(result),
      user(result, tasksNote([], [])),
      user("  "),
    ]);
    expect(turn.messages).toEqual([
      { text: "check it", delegated: true },
      { text: "", delegated: false },
    ]);
    expect(turn.strays).toHaveLength(2);
    expect(turn.strays[0]).toEqual({ taskId: "a-123456", tool: "a", status: "failed", text: "<b> & [Tasks]" });
  });

  it("follows a task from its receipt to its result", () => {
    const start = [
      user("go"),
      called(["1", "a"], ["2", "a"]),
      output("1", startedReceipt("a-111111", "a")),
      output("2", startedReceipt("a-222222", "a")),
    ];
    const note = user(
      tasksNote(
        [
          { taskId: "a-111111", tool: "a" },
          { taskId: "a-222222", tool: "a" },
        ],
        [],
      ),
    );
    expect(states(start)).toEqual(["1 working", "2 working"]);
    expect(states([...start, note])).toEqual(["1 working", "2 working"]);
    expect(states([...start, note, done("a-222222", "two")])).toEqual(["1 working", "2 completed two"]);
    const both = user(
      taskResultMessage(
        ["a-111111", "a-222222"].map((taskId) => ({ taskId, tool: "a", status: "cancelled", text: taskId })),
      ),
    );
    expect(states([...start, note, both])).toEqual(["1 cancelled a-111111", "2 cancelled a-222222"]);
  });

  it("knows a task as lost once a note leaves it out of the working ones", () => {
    const start = [user("go"), called(["1", "a"]), output("1", startedReceipt("a-111111", "a"))];
    expect(states([...start, user(tasksNote([], [{ taskId: "a-111111", tool: "a" }]))])).toEqual(["1 lost"]);
    expect(states([user("go"), called(["1", "a"])])).toEqual(["1 lost"]);
  });

  it("gives one reply to all calls that it settles, and later ones to later calls", () => {
    const prompt = [
      user("go"),
      called(["1", "a"]),
      output("1", startedReceipt("a-111111", "a")),
      called(["2", "a"]),
      output("2", continuedReceipt("a-111111")),
      done("a-111111", "first"),
      called(["3", "a"]),
      output("3", continuedReceipt("a-111111")),
    ];
    expect(states(prompt)).toEqual(["1 completed first", "2 completed first", "3 working"]);
    expect(states([...prompt, done("a-111111", "second")])[2]).toBe("3 completed second");
    expect(readTurn(prompt).strays).toEqual([]);
  });

  it("takes a receipt that names another tool for a plain text", () => {
    expect(states([called(["1", "b"]), output("1", startedReceipt("a-111111", "a"))])[0]).toMatch(
      /^1 completed Task a-111111/,
    );
  });

  it("survives an empty prompt", () => {
    expect(readTurn([])).toEqual({ messages: [], calls: [], strays: [], callSteps: 0, previousReply: "" });
  });
});

describe("renderOutput", () => {
  it.each([
    [{ type: "text", value: "t" }, "t", false],
    [{ type: "json", value: { sum: 5 } }, "5", false],
    [{ type: "error-text", value: "no" }, "no", true],
    [{ type: "error-json", value: { error: { message: "no" } } }, "no", true],
    [{ type: "error-json", value: [1] }, "1", true],
    [{ type: "execution-denied", reason: "not now" }, "not now", true],
    [{ type: "execution-denied" }, "the call was not approved", true],
    [{ type: "content", value: [{ type: "text", text: "a" }, { type: "custom" }] }, "a", false],
    [{ type: "unheard-of", value: 1 }, "1", false],
    [{ type: "unheard-of" }, "", false],
  ])("%j", (value, text, failed) => {
    expect(renderOutput(value as never)).toEqual({ text, failed });
  });

  it.each([
    [{ text: "Tides rise.", source: "notes" }, "Tides rise. (source: notes)"],
    [{ text: "Tides rise.", tags: ["a"] }, '{"text":"Tides rise.","tags":["a"]}'],
    [{ words: 5, index: null }, "words: 5, index: null"],
    [
      {
        notes: [
          { title: "Tide", text: "Water." },
          { title: "Moon", text: "Rock." },
        ],
      },
      "Water. (title: Tide)\nRock. (title: Moon)",
    ],
    [{ notes: [] }, "no notes"],
    [{ found: { a: [1], b: 2 } }, '{"a":[1],"b":2}'],
    [[1, "a"], "1, a"],
    [[], "nothing"],
    [null, ""],
    [false, "false"],
    [{}, "{}"],
  ])("value %j", (value, text) => {
    expect(renderValue(value)).toBe(text);
  });
});
