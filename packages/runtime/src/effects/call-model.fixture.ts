import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { LanguageModelV4, LanguageModelV4StreamPart } from "@ai-sdk/provider";
import { onTestFinished } from "vitest";
import { defineAgent, type AgentOptions } from "../define/define-agent.ts";
import type { EffectInput } from "../engine/input.ts";
import { startTurn } from "../engine/session.fixture.ts";
import type { SessionState } from "../engine/state.ts";
import type { ManifestTool } from "../protocol/manifest.ts";
import { defineTool } from "../define/define-tool.ts";
import { createRegistry } from "../registry/registry.ts";
import { createTestSandboxes } from "../sandbox/sandboxes.fixture.ts";
import { createCallbackTokens } from "../transport/callback-token.ts";
import * as z from "zod";
import { callModel } from "./call-model.ts";
import type { Member } from "./perform.ts";

const ADD: ManifestTool = {
  name: "add",
  source: "tools/add.ts",
  description: "Adds.",
  inputSchema: { type: "object", properties: { a: { type: "number" } } },
  onInterrupt: "retry",
};

/** A member whose one agent has the tool `add`, and these options. */
export function createTestMember(options: AgentOptions, env: Member["env"] = {}): Member {
  const node = {
    id: "root",
    name: "x",
    description: "",
    modelId: "m",
    instructions: "You add.",
    tools: [ADD],
    subagents: [],
    composition: [
      { name: "add", visible: true, kind: "tool" as const, reason: "authored" as const, source: ADD.source },
    ],
    source: "agent.ts",
  };
  const registry = createRegistry(
    { version: 1, member: "x", buildId: "b", nodes: [node] },
    {
      "agent.ts": defineAgent(options),
      "tools/add.ts": defineTool({
        description: "Adds.",
        inputSchema: z.object({ a: z.number() }),
        execute: ({ a }) => a + 1,
      }),
    },
  );
  return {
    registry: () => registry,
    env,
    tokens: createCallbackTokens("s"),
    publicBase: () => "",
    sandboxes: createTestSandboxes(() => registry),
    lastEventAt: async () => undefined,
    log: () => {},
  };
}

export interface Called {
  readonly result: EffectInput;
  /** Texts as they were streamed. */
  readonly streamed: readonly string[];
}

/** Runs one provider call of a turn. */
export async function call(
  member: Member,
  state: SessionState = startTurn().state,
  signal: AbortSignal = new AbortController().signal,
): Promise<Called> {
  const streamed: string[] = [];
  const result = await callModel(
    member,
    { id: "model:turn_0:0:1", kind: "model", failures: 0 },
    {
      state,
      signal,
      steered: new AbortController().signal,
      interrupted: false,
      stream: (delta) => void (delta.type === "message.appended" && streamed.push(delta.data.messageDelta)),
    },
  );
  return { result: result as EffectInput, streamed };
}

export const USAGE = {
  inputTokens: { total: 7, noCache: 5, cacheRead: 2, cacheWrite: 0 },
  outputTokens: { total: 3, text: 3, reasoning: 0 },
} as const;

export const SAID: readonly LanguageModelV4StreamPart[] = [
  { type: "stream-start", warnings: [] },
  { type: "text-start", id: "0" },
  { type: "text-delta", id: "0", delta: "The answer is 4" },
  { type: "text-end", id: "0" },
];

export function finish(
  unified: "stop" | "length" | "tool-calls" | "error" | "interrupted" | "content-filter" | "other",
  raw: string | undefined = unified,
): LanguageModelV4StreamPart {
  return { type: "finish", finishReason: { unified, raw }, usage: USAGE };
}

type Ending = (stream: ReadableStreamDefaultController<LanguageModelV4StreamPart>) => void;

/** A model that streams these parts and then ends as `ending` says. */
export function streaming(
  parts: readonly LanguageModelV4StreamPart[],
  ending: Ending = (stream) => stream.close(),
): LanguageModelV4 {
  return {
    specificationVersion: "v4",
    provider: "test",
    modelId: "test",
    supportedUrls: {},
    doGenerate: () => Promise.reject(new Error("only streams")),
    doStream: async () => ({
      stream: new ReadableStream({
        start: (controller) => {
          for (const part of parts) controller.enqueue(part);
          ending(controller);
        },
      }),
    }),
  };
}

export interface TestProvider {
  /** Where the API is, without a slash at the end. */
  readonly url: string;
  /** Bodies of the requests so far. */
  readonly requests: readonly Record<string, unknown>[];
}

export type Answer = (response: ServerResponse, request: IncomingMessage) => void;

/** A provider on loopback: each request takes the next answer, the last one for ever. */
export async function serveProvider(...answers: readonly Answer[]): Promise<TestProvider> {
  const requests: Record<string, unknown>[] = [];
  const server: Server = createServer((request, response) => {
    let body = "";
    request.setEncoding("utf8").on("data", (chunk: string) => (body += chunk));
    request.on("end", () => {
      const answer = answers[Math.min(requests.length, answers.length - 1)]!;
      requests.push(JSON.parse(body) as Record<string, unknown>);
      answer(response, request);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    return new Promise((resolve) => server.close(() => resolve()));
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, requests };
}

/** Answers with a status and a body, as JSON unless it is text. */
export function answering(status: number, body: unknown, headers: Record<string, string> = {}): Answer {
  return (response) => {
    response.writeHead(status, { "content-type": "application/json", ...headers });
    response.end(typeof body === "string" ? body : JSON.stringify(body));
  };
}

/** Streams server-sent events; `then` ends the response in another way than by its end. */
export function sending(
  events: readonly (string | Record<string, unknown>)[],
  then: Answer = (response) => response.end(),
): Answer {
  return (response, request) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    const lines = events.map((event) => {
      if (typeof event === "string") return `data: ${event}\n\n`;
      return `event: ${String(event["type"])}\ndata: ${JSON.stringify(event)}\n\n`;
    });
    response.flushHeaders();
    if (lines.length === 0) return then(response, request);
    response.write(lines.join(""), () => then(response, request));
  };
}

/** The event that every stream of Anthropic's API begins with. */
export function messageStart(usage: Record<string, number>): Record<string, unknown> {
  const nothingYet = { content: [], stop_reason: null, stop_sequence: null };
  const message = { id: "m", type: "message", role: "assistant", model: "claude-x", ...nothingYet, usage };
  return { type: "message_start", message };
}
