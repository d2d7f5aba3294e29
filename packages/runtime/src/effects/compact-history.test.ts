import type { LanguageModelV4, LanguageModelV4CallOptions, LanguageModelV4GenerateResult } from "@ai-sdk/provider";
import { expect, test } from "vitest";
import * as z from "zod";
import { defineAgent } from "../define/define-agent.ts";
import { defineTool } from "../define/define-tool.ts";
import {
  calls,
  deliver,
  message,
  says,
  startTurn,
  toolCall,
  toolSettled,
  type TestSession,
} from "../engine/session.fixture.ts";
import { COMPACTION_PROMPT } from "../engine/text.ts";
import { createRegistry } from "../registry/registry.ts";
import { createTestSandboxes } from "../sandbox/sandboxes.fixture.ts";
import { createCallbackTokens } from "../transport/callback-token.ts";
import { compactHistory } from "./compact-history.ts";

const USAGE = {
  inputTokens: { total: 7, noCache: 5, cacheRead: 2, cacheWrite: 0 },
  outputTokens: { total: 3, text: 3, reasoning: 0 },
};
type Generated = LanguageModelV4GenerateResult | Error;
const summary = (text: string, unified: "stop" | "length" | "content-filter" = "stop"): Generated => ({
  content: [{ type: "text", text }],
  finishReason: { unified, raw: unified },
  usage: USAGE,
  warnings: [],
});

async function compact(
  { state }: TestSession,
  generated: Generated = summary("short"),
  { kept = 0, withTool = true, signal = new AbortController().signal } = {},
) {
  const asked: LanguageModelV4CallOptions[] = [];
  const model: LanguageModelV4 = {
    specificationVersion: "v4",
    provider: "test",
    modelId: "test",
    supportedUrls: {},
    doGenerate: async (options) => {
      asked.push(options);
      if (generated instanceof Error) throw generated;
      return generated;
    },
    doStream: () => Promise.reject(new Error("only generates")),
  };
  const inputSchema = { type: "object", properties: { a: { type: "number" } } };
  const add = { name: "add", source: "tools/add.ts", description: "Adds.", inputSchema, onInterrupt: "retry" } as const;
  const node = {
    id: "root",
    name: "x",
    description: "",
    instructions: "Be kind.",
    source: "agent.ts",
    modelId: "m",
    tools: [add],
    subagents: [],
    composition: [
      { name: "add", visible: withTool, kind: "tool" as const, reason: "authored" as const, source: "tools/add.ts" },
    ],
  };
  const tool = defineTool({ description: "Adds.", inputSchema: z.object({ a: z.number() }), execute: () => 1 });
  const registry = createRegistry(
    { version: 1, member: "x", buildId: "b", nodes: [node] },
    { "agent.ts": defineAgent({ model }), "tools/add.ts": tool },
  );
  const result = await compactHistory(
    {
      registry: () => registry,
      env: {},
      tokens: createCallbackTokens("s"),
      publicBase: () => "",
      sandboxes: createTestSandboxes(() => registry),
      lastEventAt: async () => undefined,
      log: () => {},
    },
    { id: "compact:1", kind: "compact", kept },
    { state, signal, steered: new AbortController().signal, interrupted: false, stream: () => {} },
  );
  return { result, asked };
}

/** A conversation with a call, the last message of which says more than it should for ever. */
function talked(): TestSession {
  const session = startTurn();
  session.apply(calls(toolCall("t1")));
  session.apply(toolSettled("t1"));
  session.apply(says("three"));
  session.apply(deliver("pay", { context: ["on the billing page"] }));
  return session;
}

test("the prompt begins as that of a step does, and ends with what is wanted of it", async () => {
  const session = talked();
  const { result, asked } = await compact(session, undefined, { kept: 1 });
  expect(result).toEqual({
    kind: "compaction.finished",
    summary: "short",
    usage: { inputTokens: 7, outputTokens: 3, cacheReadTokens: 2, cacheWriteTokens: 0 },
  });
  const { prompt, tools, toolChoice } = asked[0]!;
  expect(prompt.map(({ role }) => role)).toEqual(["system", "user", "assistant", "tool", "assistant", "user"]);
  expect(prompt[0]).toMatchObject({ content: "Be kind." });
  expect(prompt.at(-1)).toMatchObject({ content: [{ type: "text", text: COMPACTION_PROMPT }] });
  expect(JSON.stringify(prompt)).not.toContain("pay");
  // Providers refuse a history with calls of tools that are not named.
  expect(tools).toMatchObject([{ type: "function", name: "add" }]);
  expect(toolChoice).toEqual({ type: "none" });
});

test("an agent without tools names none", async () => {
  const { asked } = await compact(startTurn(), undefined, { withTool: false });
  expect(asked[0]?.tools ?? []).toEqual([]);
});

test("what was to be known for one turn only does not get into the summary", async () => {
  const { asked } = await compact(talked());
  expect(JSON.stringify(asked[0]!.prompt)).toContain("pay");
  expect(JSON.stringify(asked[0]!.prompt)).not.toContain("billing");
});

test.each([
  ["is empty", summary("  "), /empty/],
  ["was cut off", summary("half an", "length"), /length/],
  ["was filtered", summary("", "content-filter"), /content-filter/],
  ["could not be had", new Error("open '/srv/app/key': no\n    at x (/srv/app/x.ts:1:1)"), /^open '…\/key': no$/],
])("a summary that %s leaves the history as it is", async (_, generated, problem) => {
  const { result } = await compact(startTurn({ first: message("hi") }), generated);
  expect(result).toEqual({ kind: "compaction.failed", message: expect.stringMatching(problem) });
});

test("one that nobody wants any more has no result", async () => {
  const { result } = await compact(startTurn(), new Error("aborted"), { signal: AbortSignal.abort() });
  expect(result).toBeUndefined();
});
