import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import type { LanguageModelV4, LanguageModelV4CallOptions } from "@ai-sdk/provider";
import { jsonSchema, streamText, type ToolSet } from "ai";
import { describe, expect, it, onTestFinished } from "vitest";
import { AgentError } from "../errors.ts";
import { scriptedModel, type ScriptedStep } from "./index.ts";

const prompt: LanguageModelV4CallOptions["prompt"] = [{ role: "user", content: [{ type: "text", text: "hi" }] }];
const add = { type: "function" as const, name: "add", inputSchema: {} };

async function readParts(
  model: LanguageModelV4,
  abortSignal?: AbortSignal,
): Promise<{ parts: string[]; error?: unknown }> {
  const parts: string[] = [];
  try {
    const { stream } = await model.doStream({ prompt, ...(abortSignal === undefined ? {} : { abortSignal }) });
    const reader = stream.getReader();
    for (let next = await reader.read(); !next.done; next = await reader.read()) {
      parts.push(next.value.type === "text-delta" ? `text ${next.value.delta}` : next.value.type);
    }
    return { parts };
  } catch (error) {
    return { parts, error };
  }
}

describe("scriptedModel", () => {
  it("plays its steps in order and remembers what it was asked", async () => {
    const model = scriptedModel(
      [
        { text: "a", calls: [{ name: "add", input: { a: 1 } }], reasoning: "hm" },
        (request) => ({ text: `${request.index} ${request.tools.join()}` }),
      ],
      { onTestFinished },
    );
    const first = await model.doGenerate({ prompt, tools: [add] });
    expect(first.content).toEqual([
      { type: "reasoning", text: "hm" },
      { type: "text", text: "a" },
      { type: "tool-call", toolCallId: expect.stringMatching(/^call_\w+_0_0$/), toolName: "add", input: '{"a":1}' },
    ]);
    expect(first.finishReason.unified).toBe("tool-calls");
    expect(model.remaining).toBe(1);
    const second = await model.doGenerate({ prompt, tools: [add] });
    expect(second).toMatchObject({ content: [{ text: "1 add" }], finishReason: { unified: "stop" } });
    expect(model.requests.map((request) => request.prompt)).toEqual([prompt, prompt]);
  });

  it("streams chunks, takes ids, usage and finish reasons as given", async () => {
    const step: ScriptedStep = {
      text: ["a", "", "b"],
      calls: [{ name: "add", input: "{", callId: "c1" }],
      finishReason: "length",
      usage: { inputTokens: 7, outputTokens: 9 },
    };
    const model = scriptedModel([step, step]);
    expect(await readParts(model)).toEqual({
      parts: [
        "stream-start",
        "response-metadata",
        "text-start",
        "text a",
        "text b",
        "text-end",
        "tool-input-start",
        "tool-input-delta",
        "tool-input-end",
        "tool-call",
        "finish",
      ],
    });
    const { content, finishReason, usage } = await model.doGenerate({ prompt });
    expect(content.at(-1)).toMatchObject({ toolCallId: "c1", input: "{" });
    expect([finishReason.unified, usage.inputTokens.total, usage.outputTokens.total]).toEqual(["length", 7, 9]);
  });

  it("fails before the stream, after some chunks, or at its end", async () => {
    const error = { message: "busy", retryable: true };
    const model = scriptedModel([
      { error },
      { text: ["a", "b"], error, errorAfter: 1 },
      { text: ["a", "b"], error, errorAfter: 9 },
      { text: ["a", "b"], error: new TypeError("odd"), errorAfter: 0, errorAs: "part" },
    ]);
    const before = await readParts(model);
    expect(before).toMatchObject({
      parts: [],
      error: { name: "AI_APICallError", message: "busy", isRetryable: true, statusCode: 503 },
    });
    expect(await readParts(model)).toMatchObject({
      parts: ["stream-start", "response-metadata", "text-start", "text a"],
      error: { message: "busy" },
    });
    expect(await readParts(model)).toMatchObject({
      parts: ["stream-start", "response-metadata", "text-start", "text a", "text b", "text-end"],
      error: { message: "busy" },
    });
    expect(await readParts(model)).toEqual({
      parts: ["stream-start", "response-metadata", "text-start", "error", "finish"],
    });
    model.assertConsumed();
  });

  it("fails before a call's parts when no text comes first", async () => {
    const model = scriptedModel([{ calls: [{ name: "add", input: {} }], error: { message: "cut" }, errorAfter: 0 }]);
    expect(await readParts(model)).toMatchObject({
      parts: ["stream-start", "response-metadata"],
      error: { message: "cut", isRetryable: false },
    });
  });

  it("ends a wait when the call is aborted", async () => {
    const model = scriptedModel([{ delayMs: 60_000 }, { text: ["a", "b"], chunkDelayMs: 60_000 }]);
    for (const parts of [0, 4]) {
      const abort = new AbortController();
      const reading = readParts(model, abort.signal);
      await new Promise((resolve) => setImmediate(resolve));
      abort.abort(new Error("stop"));
      const result = await reading;
      expect(result.parts).toHaveLength(parts);
      expect(result.error).toMatchObject({ message: "stop" });
    }
    model.assertConsumed();
  });

  it("lists what was not played", async () => {
    const model = scriptedModel([
      { text: "a" },
      { text: "b".repeat(80) },
      { calls: [{ name: "add", input: {} }] },
      () => ({}),
      { error: { message: "no" } },
      {},
    ]);
    await model.doGenerate({ prompt });
    const error = catchError(() => model.assertConsumed());
    expect(AgentError.is(error, "CONFIG_INVALID")).toBe(true);
    expect((error as Error).message).toBe(
      `The script of "script" was not played to its end; left over:\n2. text "${"b".repeat(59)}…"\n3. call add\n4. (a function)\n5. error "no"\n6. (empty response)`,
    );
  });

  it("refuses a call beyond the script, also when that was swallowed", async () => {
    const model = scriptedModel([{ text: "a" }], { modelId: "m" });
    await model.doGenerate({ prompt });
    await expect(async () => model.doGenerate({ prompt })).rejects.toThrow(
      'The script of "m" has 1 step, and the model was called again (call 2).',
    );
    expect(() => model.assertConsumed()).toThrow("called 2 times");
  });

  it("remembers what an expectation or a function threw, but not an abort", async () => {
    const failing = scriptedModel([
      {
        expect: () => {
          throw new Error("wrong tools");
        },
      },
    ]);
    await expect(async () => failing.doGenerate({ prompt })).rejects.toThrow("wrong tools");
    expect(() => failing.assertConsumed()).toThrow("wrong tools");

    const abort = new AbortController();
    const aborted = scriptedModel([
      async () => {
        abort.abort();
        throw new Error("gone");
      },
    ]);
    await expect(async () => aborted.doGenerate({ prompt, abortSignal: abort.signal })).rejects.toThrow("gone");
    aborted.assertConsumed();
  });

  it("really fails a test that does not play it", async () => {
    const script = `
      import { startVitest } from "vitest/node";
      const vitest = await startVitest("test", [], { config: false, watch: false, include: ["src/testing/scripted-model.fixture.ts"], reporters: [{}] });
      const states = [];
      for (const module of vitest.state.getTestModules()) for (const test of module.children.allTests()) states.push([test.name, test.result().state]);
      console.log("STATES" + JSON.stringify(states));
      process.exitCode = 0;
      await vitest.close();`;
    const cwd = fileURLToPath(new URL("../../", import.meta.url));
    const { stdout } = await promisify(execFile)(process.execPath, ["--input-type=module", "-e", script], { cwd });
    const states = JSON.parse(/STATES(.*)/.exec(stdout)?.[1] ?? "[]") as [string, string][];
    expect(states).toHaveLength(8);
    expect(states.filter(([name, state]) => (state === "passed") !== name.startsWith("passes"))).toEqual([]);
  }, 30_000);
});

describe("through streamText", () => {
  const tools: ToolSet = {
    add: { inputSchema: jsonSchema({ type: "object", properties: { a: { type: "number" } } }) },
  };

  async function types(step: ScriptedStep): Promise<string[]> {
    const result = streamText({
      model: scriptedModel([step], { onTestFinished }),
      tools,
      prompt: "x",
      maxRetries: 0,
      onError: () => {},
    });
    const seen: string[] = [];
    try {
      for await (const part of result.fullStream)
        seen.push("invalid" in part && part.invalid ? `${part.type}!` : part.type);
    } catch {
      seen.push("thrown");
    }
    return seen.filter((type) => !type.startsWith("tool-input") && !type.startsWith("text"));
  }

  /** What the engine relies on; a new version of the SDK that behaves differently fails here first. */
  it.each<[string, ScriptedStep, string[]]>([
    [
      "a call that nothing executes",
      { calls: [{ name: "add", input: { a: 1 } }] },
      ["start", "start-step", "tool-call", "finish-step", "finish"],
    ],
    [
      "an unknown tool",
      { calls: [{ name: "nope", input: {} }] },
      ["start", "start-step", "tool-call!", "tool-error", "finish-step", "finish"],
    ],
    [
      "broken JSON",
      { calls: [{ name: "add", input: "{" }] },
      ["start", "start-step", "tool-call!", "tool-error", "finish-step", "finish"],
    ],
    [
      "an input of the wrong shape, with no validator",
      { calls: [{ name: "add", input: { a: "x" } }] },
      ["start", "start-step", "tool-call", "finish-step", "finish"],
    ],
    ["a failure before the stream", { error: { message: "no" } }, ["start", "error"]],
    [
      "a connection that breaks",
      { text: "a", error: { message: "no" }, errorAfter: 1 },
      ["start", "start-step", "thrown"],
    ],
    [
      "an error in the stream",
      { text: "a", error: { message: "no" }, errorAfter: 1, errorAs: "part" },
      ["start", "start-step", "error", "finish-step", "finish"],
    ],
    ["an empty response", {}, ["start", "start-step", "finish-step", "finish"]],
  ])("%s", async (_, step, expected) => {
    expect(await types(step)).toEqual(expected);
  });
});

function catchError(run: () => void): unknown {
  try {
    run();
  } catch (error) {
    return error;
  }
  return undefined;
}
