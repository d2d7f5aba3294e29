import type { LanguageModelV4Prompt } from "@ai-sdk/provider";
import { describe, expect, test } from "vitest";
import { markPrompt, providerDefaults } from "./provider-defaults.ts";

const defaultsOf = (provider: string, modelId = "m", promptCache?: Parameters<typeof providerDefaults>[1]) =>
  providerDefaults({ provider, modelId, sessionId: "ses_1" }, promptCache);
const CLAUDE = { anthropic: { cacheControl: { type: "ephemeral" } } };
const PINGS = { anthropic: { includePings: true } };

describe("providerDefaults", () => {
  test.each([
    ["gateway", "anthropic/claude-opus-5.5", { providerOptions: { gateway: { caching: "auto" } } }],
    ["anthropic.messages", "claude-opus-5-5", { providerOptions: PINGS, mark: CLAUDE }],
    ["vertex.anthropic.messages", "claude-x", { providerOptions: PINGS, mark: CLAUDE }],
    ["my-proxy", "claude-x", { providerOptions: {}, mark: CLAUDE }],
    [
      "amazon-bedrock",
      "eu.anthropic.claude-x-v1:0",
      { providerOptions: {}, mark: { bedrock: { cachePoint: { type: "default" } } } },
    ],
    ["amazon-bedrock", "meta.llama", { providerOptions: {} }],
    ["google.generative-ai", "gemini", { providerOptions: {} }],
    ["azure.responses", "gpt", { providerOptions: {} }],
  ])("%s, %s", (provider, modelId, expected) => expect(defaultsOf(provider, modelId)).toEqual(expected));

  test.each(["openai.responses", "openai.chat"])(
    "%s gets a name for the session that does not tell which",
    (provider) => {
      const { openai } = defaultsOf(provider).providerOptions;
      expect(openai!["promptCacheKey"]).toMatch(/^[0-9a-f]{32}$/);
      expect(defaultsOf(provider).providerOptions).toEqual({ openai });
      const other = providerDefaults({ provider, modelId: "m", sessionId: "ses_2" });
      expect(other.providerOptions["openai"]).not.toEqual(openai);
    },
  );

  test.each(["gateway", "anthropic.messages", "amazon-bedrock", "openai.responses"])(
    "%s is told nothing of it when it is off",
    (provider) => {
      expect(JSON.stringify(defaultsOf(provider, "claude", false))).not.toMatch(/cach/i);
    },
  );

  test("a model that is not known for Claude is when its author says so", () => {
    const profile = "arn:aws:bedrock:x";
    expect(defaultsOf("amazon-bedrock", profile, { anthropic: { ttl: "1h" } }).mark).toEqual({
      bedrock: { cachePoint: { type: "default", ttl: "1h" } },
    });
    expect(defaultsOf("other", "x", { anthropic: {} }).mark).toEqual(CLAUDE);
  });
});

describe("markPrompt", () => {
  const user = (text: string) => ({ role: "user" as const, content: [{ type: "text" as const, text }] });
  const said = { role: "assistant" as const, content: [{ type: "text" as const, text: "ok" }] };
  const marked = (prompt: LanguageModelV4Prompt) =>
    markPrompt(prompt, CLAUDE as never).flatMap(({ providerOptions }, index) => (providerOptions ? [index] : []));

  test.each<[string, LanguageModelV4Prompt, number[]]>([
    ["the first call", [{ role: "system", content: "s" }, user("a")], [0, 1]],
    ["without instructions", [user("a")], [0]],
    [
      "a later call: the end of the last prompt, too",
      [{ role: "system", content: "s" }, user("a"), said, user("b"), said, user("c"), user("d")],
      [0, 3, 6],
    ],
  ])("%s", (_, prompt, expected) => expect(marked(prompt)).toEqual(expected));

  test("leaves what it is given as it is, and keeps what else stands there", () => {
    const prompt: LanguageModelV4Prompt = [{ ...user("a"), providerOptions: { acme: { x: 1 } } }];
    expect(markPrompt(prompt, CLAUDE as never)[0]!.providerOptions).toEqual({ acme: { x: 1 }, ...CLAUDE });
    expect(prompt[0]!.providerOptions).toEqual({ acme: { x: 1 } });
  });
});
