import type { Hono } from "hono";
import { onTestFinished } from "vitest";
import { ulid } from "ulid";
import { z } from "zod";
import type { Authenticator } from "../channels/auth.ts";
import { defineAgent, defineTool, defineWorkspaceAgent } from "../define/index.ts";
import { createPerform } from "../effects/perform.ts";
import type { Host, Perform } from "../engine/ports.ts";
import { createSqlHost } from "../host/sql/host.ts";
import { openSqliteStore } from "../host/sql/sqlite.ts";
import { MANIFEST_VERSION, manifestSchema } from "../protocol/manifest.ts";
import type { StreamEvent } from "../protocol/events.ts";
import { createRegistry, type Registry } from "../registry/registry.ts";
import { createTestSandboxes } from "../sandbox/sandboxes.fixture.ts";
import { createCallbackTokens, type CallbackTokens } from "../transport/callback-token.ts";
import type { ScriptedModel } from "../testing/scripted-model.ts";
import { createApp } from "./app.ts";
import { createOperatorTokens, type OperatorTokens } from "./operator-token.ts";

export const BASE = "/eve/lead/v1";

export interface TestApp {
  readonly app: Hono;
  /** Lets go of the store before the test ends. */
  close(): Promise<void>;
  readonly host: Host;
  readonly registry: Registry;
  readonly tokens: CallbackTokens;
  readonly operator: OperatorTokens;
  readonly logged: readonly string[];
  /** Sends JSON to a path below the base; `as` is the caller's name. */
  post(path: string, body?: unknown, options?: { readonly as?: string }): Promise<Response>;
  get(path: string, options?: { readonly as?: string }): Promise<Response>;
  /** Creates a session with a message and returns its id. */
  create(message?: string, options?: { readonly as?: string }): Promise<string>;
  events(sessionId: string): Promise<StreamEvent[]>;
  /** The events, once `count` of `type` are among them. */
  until(sessionId: string, type: StreamEvent["type"], count?: number): Promise<StreamEvent[]>;
}

export interface TestAppOptions {
  /** Answers every effect; default: the real ones. */
  readonly perform?: Perform;
  readonly model?: ScriptedModel;
  readonly auth?: readonly Authenticator[];
  readonly env?: Readonly<Record<string, string>>;
  readonly mode?: "development" | "production";
  readonly leaseMs?: number;
  /** Of the store; default: in memory. */
  readonly file?: string;
}

/** A member named `lead` with a tool, a local subagent and a peer, served without a socket. */
export async function createTestApp({
  perform,
  model,
  auth = [byHeader],
  env = {},
  mode = "development",
  leaseMs,
  file = ":memory:",
}: TestAppOptions = {}): Promise<TestApp> {
  const registry = createRegistry(manifestSchema.parse(MANIFEST), {
    "agent.ts": defineAgent(model === undefined ? {} : { model }),
    "tools/add.ts": defineTool({
      description: "Adds.",
      inputSchema: z.object({ a: z.number(), b: z.number() }),
      execute: ({ a, b }) => ({ sum: a + b }),
    }),
    "subagents/peer.ts": defineWorkspaceAgent({ name: "far" }),
  });
  const store = openSqliteStore(file);
  const secret = await store.secret();
  const tokens = createCallbackTokens(secret);
  const operator = createOperatorTokens(secret);
  const logged: string[] = [];
  const modelFacts = () => ({ modelId: "test/model", offline: false });
  const host = createSqlHost({
    store,
    perform:
      perform ??
      createPerform({
        registry: () => registry,
        env,
        tokens,
        sandboxes: createTestSandboxes(() => registry),
        publicBase: () => `http://lead.invalid${BASE}`,
        lastEventAt: async (sessionId) => (await host.head(sessionId))?.updatedAt,
        log: () => {},
      }),
    surroundings: ({ sessionId }) => ({
      sessionId,
      modelId: "test/model",
      eveVersion: "0.0.0",
      base: BASE,
      newSessionId: () => `ses_${ulid()}`,
      random: (length) => ulid().toLowerCase().slice(-length),
    }),
    newSessionId: () => `ses_${ulid()}`,
    newEventId: () => `evt_${ulid()}`,
    now: Date.now,
    onError: (error) => logged.push(String(error)),
  });
  let closed = false;
  const close = async (): Promise<void> => {
    if (!closed) await host.close();
    closed = true;
  };
  onTestFinished(close);
  const app = createApp({
    host,
    registry,
    auth,
    tokens,
    operator,
    env,
    modelFacts,
    durable: true,
    mode,
    origin: () => "https://lead.example.com",
    log: (line) => logged.push(line),
    ...(leaseMs === undefined ? {} : { leaseMs }),
  });

  const get: TestApp["get"] = async (path, { as = "ada" } = {}) =>
    app.request(`${BASE}${path}`, { headers: { "x-user": as } });
  const events = async (sessionId: string): Promise<StreamEvent[]> =>
    (await host.events(sessionId, 0, 10_000)).map(({ line }) => JSON.parse(line) as StreamEvent);
  const post: TestApp["post"] = async (path, body, { as = "ada" } = {}) =>
    app.request(`${BASE}${path}`, {
      method: "POST",
      headers: { "x-user": as, "content-type": "application/json" },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
  return {
    app,
    close,
    host,
    registry,
    tokens,
    operator,
    logged,
    get,
    post,
    events,
    create: async (message = "hello", options) => {
      const response = await post("/session", { message }, options);
      return ((await response.json()) as { sessionId: string }).sessionId;
    },
    until: (sessionId, type, count = 1) =>
      new Promise((resolve, reject) => {
        const look = async (): Promise<void> => {
          const seen = await events(sessionId);
          if (seen.filter((event) => event.type === type).length < count) return;
          stop();
          resolve(seen);
        };
        const stop = host.subscribe(sessionId, () => void look().catch(reject));
        void look().catch(reject);
      }),
  };
}

/** Whoever the header `x-user` names. */
export const byHeader: Authenticator = Object.assign(
  ({ headers }: { headers: Headers }) => {
    const name = headers.get("x-user");
    return name === null
      ? null
      : { authenticator: "header", principalId: name, principalType: "user" as const, attributes: {} };
  },
  { challenge: 'Name realm="test"' },
);

/** Says the same to every model call, and as every summary. */
export function saying(text: string): Perform {
  const usage = { inputTokens: 1, outputTokens: 1, cacheReadTokens: 0, cacheWriteTokens: 0 };
  return async ({ kind }) =>
    kind === "compact"
      ? { kind: "compaction.finished", summary: text, usage }
      : { kind: "model.responded", text, reasoning: "", finishReason: "stop", calls: [], usage };
}

/** Never answers; ends when it is aborted. */
export const hanging: Perform = (_, { signal }) =>
  new Promise((resolve) => signal.addEventListener("abort", () => resolve(undefined), { once: true }));

const MANIFEST = {
  version: MANIFEST_VERSION,
  member: "lead",
  buildId: "test-build",
  nodes: [
    {
      id: "root",
      name: "lead",
      description: "Leads.",
      source: "agent.ts",
      modelId: "test/model",
      tools: [
        {
          name: "add",
          source: "tools/add.ts",
          description: "Adds.",
          inputSchema: { type: "object", properties: { a: { type: "number" }, b: { type: "number" } } },
          onInterrupt: "retry",
        },
      ],
      subagents: [
        { name: "peer", kind: "peer", source: "subagents/peer.ts", description: "Far away.", tool: true, peer: "far" },
        {
          name: "helper",
          kind: "local",
          source: "subagents/helper/agent.ts",
          description: "Helps.",
          tool: true,
          nodeId: "root/helper",
        },
      ],
      composition: [
        { name: "agent", visible: true, kind: "agent", reason: "derived", source: "agent.ts" },
        { name: "add", visible: true, kind: "tool", reason: "authored", source: "tools/add.ts" },
        { name: "peer", visible: true, kind: "agent", reason: "derived", source: "subagents/peer.ts" },
        { name: "helper", visible: true, kind: "agent", reason: "derived", source: "subagents/helper/agent.ts" },
      ],
    },
    {
      id: "root/helper",
      name: "helper",
      description: "Helps.",
      modelId: "test/model",
      tools: [],
      subagents: [],
      composition: [],
    },
  ],
};
