import { describe, expect, test } from "vitest";
import { defineAgent } from "./define-agent.ts";
import type { ModelOptions } from "./model-options.ts";

const GATEWAY_MODEL = "anthropic/claude-opus-5.5";

describe("defineAgent modelOptions", () => {
  test("takes what the AI SDK calls a model with, and what the runtime adds", () => {
    const modelOptions: ModelOptions = {
      providerOptions: { gateway: { order: ["bedrock"] } },
      promptCache: false,
      maxOutputTokens: 4_096,
      temperature: 0,
      topP: 0.9,
      topK: 40,
      presencePenalty: -0.5,
      frequencyPenalty: 0.5,
      stopSequences: ["END"],
      seed: 7,
      timeout: { firstChunkMs: 60_000, chunkMs: 10_000 },
    };
    const agent = defineAgent({ model: GATEWAY_MODEL, reasoning: "high", modelOptions });
    expect(agent).toMatchObject({ reasoning: "high", modelOptions });
  });

  test.each<[string, unknown]>([
    ["providerOptions", { anthropic: "fast" }],
    ["providerOptions", [{}]],
    ["promptCache", "1h"],
    ["promptCache", {}],
    ["promptCache", { anthropic: { ttl: "2h" } }],
    ["promptCache", { anthropic: {}, openai: {} }],
    ["maxOutputTokens", 0],
    ["maxOutputTokens", 1.5],
    ["temperature", "warm"],
    ["temperature", Number.NaN],
    ["stopSequences", "END"],
    ["stopSequences", [""]],
    ["seed", null],
    ["timeout", 30_000],
  ])("%s can not be %j", (option, value) => {
    expect(() => defineAgent({ modelOptions: { [option]: value } as ModelOptions })).toThrow(
      expect.objectContaining({
        code: "CONFIG_INVALID",
        message: expect.stringMatching(`^defineAgent modelOptions .*"${option}"`),
        fix: expect.any(String),
        data: { option },
      }),
    );
  });

  test.each([0, -1, 0.5, 2 ** 31, "60s"])("no timeout is %j", (chunkMs) => {
    const modelOptions = { timeout: { chunkMs } } as ModelOptions;
    expect(() => defineAgent({ modelOptions })).toThrow(/^defineAgent modelOptions\.timeout takes as "chunkMs"/);
  });

  test.each([
    [{ maxTokens: 1 }, /no option "maxTokens"/],
    [{ timeout: { totalMs: 1 } }, /no option "totalMs"/],
  ])("%j is unknown", (modelOptions, message) => {
    expect(() => defineAgent({ modelOptions: modelOptions as ModelOptions })).toThrow(message);
  });

  test("a promptCache for Claude is for models that are called directly; false is for all", () => {
    const promptCache = { anthropic: { ttl: "1h" } } as const;
    expect(() => defineAgent({ model: GATEWAY_MODEL, modelOptions: { promptCache } })).toThrow(
      expect.objectContaining({ code: "CONFIG_INVALID", fix: expect.stringContaining("gateway") }),
    );
    expect(() => defineAgent({ model: GATEWAY_MODEL, modelOptions: { promptCache: false } })).not.toThrow();
  });
});
