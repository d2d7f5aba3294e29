import type { LanguageModelV4, LanguageModelV4CallOptions, LanguageModelV4Prompt } from "@ai-sdk/provider";
import { describe, expect, test } from "vitest";
import type { ScriptEntry } from "../testing/script.ts";
import { statelessScript } from "../testing/stateless-script.ts";
import { converse } from "./model-turn.fixture.ts";

const call = (name: string, input: object | string = {}): { name: string; input: unknown } => ({ name, input });
const asks = (message: string) => call("helper", { message });

/** While it waits for tasks the model is asked again as often as they happen to end. */
const WHILE_WAITING: readonly ScriptEntry[] = Array.from({ length: 4 }, () => ({ text: "On." }));

/** All that adds to a prompt: tools that work and fail, calls of nothing, thoughts, tasks, notes, failures. */
const TURNS: Readonly<Record<string, readonly ScriptEntry[]>> = {
  text: [{ text: "Hello." }],
  tools: [{ text: "I add.", calls: [call("add", { a: 1 }), call("add", { a: 2 })] }, { text: "2 and 3" }],
  "a tool that fails": [
    { reasoning: "Hm.", calls: [call("fail")] },
    { reasoning: "Well.", text: "It failed." },
  ],
  "calls of nothing": [{ calls: [call("nothing"), call("add", "{")] }, { text: "No such tool." }],
  "a task and a tool": [{ calls: [asks("work"), call("add", { a: 3 })] }, ...WHILE_WAITING],
  "a task that fails": [{ calls: [asks("fail")] }, ...WHILE_WAITING],
  "two tasks": [{ calls: [asks("work"), asks("work more")] }, ...WHILE_WAITING],
  "a provider that fails once": [failingOnce(), { text: "Well." }],
  "a provider that fails for good": [{ text: "Half", error: { message: "no", retryable: false }, errorAfter: 1 }],
  "a blank text": [{ text: " \n" }],
  "a text that is cut off": [{ text: "Cut", finishReason: "length" }],
};
const HELPER = statelessScript({ fail: [{ error: { message: "no", retryable: false } }], "*": [{ text: "helped" }] });

describe("§6.9 the beginning of a prompt", () => {
  test.each([
    ["is the same, byte by byte, from call to call of a session", "scripted"],
    ["is the same where it is marked to be kept, but for the marks", "anthropic.messages"],
  ])("%s", async (_, provider) => {
    const requests: LanguageModelV4CallOptions[] = [];
    const model = recording({ ...statelessScript(TURNS), provider }, requests);
    const chat = await converse({ model }, { model: HELPER });
    for (const message of Object.keys(TURNS)) await chat.turn(message);
    await chat.restart();
    for (const message of Object.keys(TURNS)) await chat.turn(message);
    const prompts = requests.map(({ prompt }) => prompt);
    expect(prompts.length).toBeGreaterThanOrEqual(2 * (Object.keys(TURNS).length + 7));
    expect(JSON.stringify(prompts).includes("cacheControl")).toBe(provider !== "scripted");
    expect(JSON.stringify(prompts.at(-1))).toMatch(/task_result.*\[Tasks\]|\[Tasks\].*task_result/s);
    const texts = prompts.map((prompt) => JSON.stringify(withoutMarks(prompt)).slice(0, -1));
    for (const [index, text] of texts.entries()) {
      if (index > 0) expect(text.startsWith(texts[index - 1]!), `prompt ${index}`).toBe(true);
    }
    expect(new Set(requests.map(({ tools }) => JSON.stringify(tools))).size).toBe(1);
  });
});

function recording(model: LanguageModelV4, requests: LanguageModelV4CallOptions[]): LanguageModelV4 {
  return {
    ...model,
    doStream: (options) => {
      requests.push(options);
      return model.doStream(options);
    },
  };
}

/** Every other call of it fails, and passes when it is made again. */
function failingOnce(): ScriptEntry {
  let calls = 0;
  return () =>
    calls++ % 2 === 0 ? { error: { message: "busy", retryable: true } } : { calls: [call("add", { a: 4 })] };
}

function withoutMarks(prompt: LanguageModelV4Prompt): unknown {
  return prompt.map(({ providerOptions, ...message }) => {
    const { anthropic, ...others } = providerOptions ?? {};
    const { cacheControl: _, ...rest } = anthropic ?? {};
    expect(rest).toEqual({});
    return { ...message, others };
  });
}
