import type { LanguageModelV4Message, LanguageModelV4Prompt } from "@ai-sdk/provider";
import { describe, expect, it } from "vitest";
import { startedReceipt, taskResultMessage, tasksNote, wrapDelegation } from "../engine/text.ts";
import { statelessScript } from "./index.ts";

const user = (text: string): LanguageModelV4Message => ({ role: "user", content: [{ type: "text", text }] });
const said = (text: string): LanguageModelV4Message => ({
  role: "assistant",
  content: text === "" ? [] : [{ type: "text", text }],
});
const result = (taskId: string): LanguageModelV4Message =>
  user(taskResultMessage([{ taskId, tool: "a", status: "completed", text: "hello" }]));
const call: LanguageModelV4Message = {
  role: "assistant",
  content: [{ type: "tool-call", toolCallId: "1", toolName: "a", input: {} }],
};
const receipt: LanguageModelV4Message = {
  role: "tool",
  content: [
    {
      type: "tool-result",
      toolCallId: "1",
      toolName: "a",
      output: { type: "text", value: startedReceipt("a-111111", "a") },
    },
  ],
};

const scripts = {
  hello: [{ text: "one" }, { text: "two" }],
  "ask *": [{ calls: [{ name: "a", input: {} }] }, {}, { text: "done" }],
  "*": [({ index }: { index: number }) => ({ text: `any ${index}` })],
};

/** A new model for every call, as after a restart. */
async function reply(prompt: LanguageModelV4Prompt): Promise<unknown> {
  const { content } = await statelessScript(scripts).doGenerate({ prompt });
  return content.map((part) => (part.type === "text" ? part.text : part.type)).join();
}

describe("statelessScript", () => {
  it.each<[string, LanguageModelV4Prompt, string]>([
    ["the first step", [user("hello")], "one"],
    ["the next step", [user("hello"), said("one")], "two"],
    ["the same message again", [user("hello"), said("one"), said("two"), user("hello")], "one"],
    ["another message", [user("hello"), said("one"), user(" ask a ")], "tool-call"],
    ["a delegated message", [user(wrapDelegation("hello")), said("one")], "two"],
    ["a fallback", [user("what?")], "any 0"],
    ["a held turn", [user("ask a"), call, receipt, user(tasksNote([{ taskId: "a-111111", tool: "a" }], []))], ""],
    [
      "a result after a held response that left a trace",
      [user("ask a"), call, receipt, said(""), result("a-111111")],
      "done",
    ],
    [
      "a result after a held response that left none",
      [user("ask a"), call, receipt, user(tasksNote([], [])), result("a-111111")],
      "done",
    ],
  ])("%s", async (_, prompt, expected) => {
    expect(await reply(prompt)).toBe(expected);
  });

  it("repeats an answer with all its ids, and gives other prompts other ids", async () => {
    const model = statelessScript(scripts);
    const generate = async (prompt: LanguageModelV4Prompt) => (await model.doGenerate({ prompt })).content;
    expect(await generate([user("ask a")])).toEqual(await generate([user("ask a")]));
    expect(await generate([user("ask a")])).not.toEqual(await generate([user("ask b")]));
  });

  it("says which messages it knows, and when a script is too short", async () => {
    const { "*": _, ...named } = scripts;
    const model = statelessScript(named, { modelId: "m" });
    await expect(async () => model.doGenerate({ prompt: [user("what?")] })).rejects.toMatchObject({
      code: "CONFIG_INVALID",
      message: '"m" has no script for "what?".',
      fix: 'Send one of "hello", "ask *", or add a script.',
    });
    await expect(async () => model.doGenerate({ prompt: [] })).rejects.toThrow('no script for ""');
    await expect(async () => model.doGenerate({ prompt: [user("hello"), said("one"), said("two")] })).rejects.toThrow(
      "has 2 steps, and the model was called again",
    );
  });
});
