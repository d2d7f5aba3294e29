import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { createAnthropic } from "@ai-sdk/anthropic";
import { createOpenAI } from "@ai-sdk/openai";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { createGateway } from "ai";
import { describe, expect, test } from "vitest";
import type { EffectInput } from "../engine/input.ts";
import {
  answering,
  call,
  createTestMember,
  messageStart,
  sending,
  serveProvider,
  type Answer,
  type TestProvider,
} from "./call-model.fixture.ts";

const KEY = "sk-test-0123456789abcdefghij";
type Failed = Extract<EffectInput, { kind: "model.failed" }>;

const PROVIDERS = {
  compatible: (url: string) => createOpenAICompatible({ name: "acme", baseURL: url, apiKey: KEY })("m"),
  openai: (url: string) => createOpenAI({ baseURL: url, apiKey: KEY }).responses("gpt-x"),
  anthropic: (url: string) => createAnthropic({ baseURL: url, apiKey: KEY })("claude-x"),
  gateway: (url: string) => createGateway({ baseURL: url, apiKey: KEY })("anthropic/claude-x"),
} as const;
type ProviderName = keyof typeof PROVIDERS;

async function fail(
  name: ProviderName,
  answer: Answer,
  timeout: { firstChunkMs?: number; chunkMs?: number } = {},
): Promise<{ failed: Failed; provider: TestProvider; streamed: readonly string[] }> {
  const provider = await serveProvider(answer);
  const model = PROVIDERS[name](provider.url);
  const { result, streamed } = await call(createTestMember({ model, modelOptions: { timeout } }, { SOME_KEY: KEY }));
  expect(result.kind).toBe("model.failed");
  expect(provider.requests.length).toBeLessThanOrEqual(1);
  return { failed: result as Failed, provider, streamed };
}

/** What the provider says, in the form of its API. */
const BODIES: Record<ProviderName, (message: string, code: string) => unknown> = {
  compatible: (message, code) => ({ error: { message, type: code, code } }),
  openai: (message, code) => ({ error: { message, type: code, code, param: null } }),
  anthropic: (message, code) => ({ type: "error", error: { type: code, message } }),
  gateway: (message, code) => ({ error: { message, type: code } }),
};

describe("§19 answers by their status", () => {
  const names = Object.keys(PROVIDERS) as ProviderName[];
  const cases: [number, string, boolean][] = [
    [408, "timeout", true],
    [409, "conflict", true],
    [425, "too_early", true],
    [429, "rate_limit_exceeded", true],
    [500, "internal_server_error", true],
    [502, "bad_gateway", true],
    [503, "overloaded_error", true],
    [529, "overloaded_error", true],
    [400, "invalid_request_error", false],
    [401, "authentication_error", false],
    [403, "forbidden", false],
    [404, "model_not_found", false],
    [413, "request_too_large", false],
    [429, "insufficient_quota", false],
  ];
  test.each(names.flatMap((name) => cases.map((row) => [name, ...row] as const)))(
    "%s: %i %s passes: %j",
    async (name, status, code, retryable) => {
      // The gateway has a type of its own for what is not paid for.
      if (name === "gateway" && code === "insufficient_quota") return;
      const { failed } = await fail(name, answering(status, BODIES[name]("The provider's own words.", code)));
      expect(failed).toMatchObject({ code: "MODEL_FAILED", retryable, details: { statusCode: status } });
      expect(failed.message).toContain(`HTTP ${status}`);
      if (status !== 401) expect(failed.message).toContain("The provider's own words.");
    },
  );

  test("an answer without a word", async () => {
    const { failed } = await fail("compatible", answering(503, ""));
    expect(failed).toMatchObject({ retryable: true, message: "Service Unavailable (acme.chat/m, HTTP 503)" });
  });
});

describe("§19 `retry-after`", () => {
  test.each<[string, Record<string, string>, number]>([
    ["in seconds", { "retry-after": "7" }, 7_000],
    ["in milliseconds, which is more precise", { "retry-after": "7", "retry-after-ms": "1500" }, 1_500],
    ["that is over, or now, is no reason to hurry", { "retry-after": "0" }, 250],
    ["of a minute is waited for", { "retry-after": "60" }, 60_000],
    ["of an hour is not: a turn is not held that long", { "retry-after": "3600" }, 2_000],
    ["that nobody can read", { "retry-after": "soon" }, 2_000],
    ["that is missing: a busy provider gets time", {}, 2_000],
  ])("%s", async (_, headers, retryAfterMs) => {
    const { failed } = await fail(
      "openai",
      answering(429, BODIES.openai("Slow down.", "rate_limit_exceeded"), headers),
    );
    expect(failed).toMatchObject({ retryable: true, retryAfterMs });
  });

  test("as a date", async () => {
    const at = new Date(Date.now() + 30_000).toUTCString();
    const { failed } = await fail(
      "anthropic",
      answering(529, BODIES.anthropic("Busy", "overloaded_error"), { "retry-after": at }),
    );
    expect(failed.retryAfterMs).toBeGreaterThan(25_000);
    expect(failed.retryAfterMs).toBeLessThanOrEqual(30_000);
  });

  test("behind the gateway's own error", async () => {
    const { failed } = await fail(
      "gateway",
      answering(429, BODIES.gateway("Wait.", "rate_limit_exceeded"), { "retry-after": "9" }),
    );
    expect(failed).toMatchObject({ retryAfterMs: 9_000 });
  });

  test("a terminal failure has nothing to wait for", async () => {
    const { failed } = await fail(
      "openai",
      answering(401, BODIES.openai("No.", "invalid_api_key"), { "retry-after": "9" }),
    );
    expect(failed).not.toHaveProperty("retryAfterMs");
  });
});

const CHUNK = (content: string) => ({ id: "1", choices: [{ index: 0, delta: { role: "assistant", content } }] });
const ANTHROPIC_TEXT = [
  messageStart({ input_tokens: 11, output_tokens: 1 }),
  { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
  { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "Half" } },
];

describe("§19 failures on the way, also after some text", () => {
  test.each<[string, ProviderName, Answer]>([
    ["a connection that is reset before an answer", "compatible", (response) => response.destroy()],
    ["a stream that is cut", "compatible", sending([CHUNK("Half")], (response) => response.destroy())],
    ["a stream that ends early", "compatible", sending([CHUNK("Half")])],
    ["a stream that is cut", "anthropic", sending(ANTHROPIC_TEXT, (response) => response.destroy())],
    ["a stream that ends early", "anthropic", sending(ANTHROPIC_TEXT)],
    ["a chunk that is no JSON", "compatible", sending([CHUNK("Half"), '{"id":'])],
    ["a chunk of another shape", "compatible", sending([CHUNK("Half"), { choices: 7 }])],
    ["an error without a code", "compatible", sending([CHUNK("Half"), { error: { message: "Something broke." } }])],
    [
      "overloaded",
      "anthropic",
      sending([...ANTHROPIC_TEXT, { type: "error", error: { type: "overloaded_error", message: "Overloaded" } }]),
    ],
    [
      "overloaded at once, with status 200",
      "anthropic",
      sending([{ type: "error", error: { type: "overloaded_error", message: "Overloaded" } }]),
    ],
    [
      "a rate limit",
      "anthropic",
      sending([...ANTHROPIC_TEXT, { type: "error", error: { type: "rate_limit_error", message: "Too fast." } }]),
    ],
    [
      "a server error",
      "openai",
      sending([
        {
          type: "error",
          sequence_number: 1,
          error: { type: "server_error", code: "server_error", message: "Oops.", param: null },
        },
      ]),
    ],
    [
      "an error of the gateway",
      "gateway",
      sending([
        { type: "stream-start", warnings: [] },
        { type: "error", error: { type: "internal_server_error", message: "Oops." } },
      ]),
    ],
  ])("%s (%s)", async (_, name, answer) => {
    const { failed } = await fail(name, answer);
    expect(failed).toMatchObject({ code: "MODEL_FAILED", retryable: true });
  });

  test("a port that nobody listens at", async () => {
    const gone = createServer();
    const { port } = await new Promise<AddressInfo>((resolve) =>
      gone.listen(0, "127.0.0.1", () => resolve(gone.address() as AddressInfo)),
    );
    await new Promise((resolve) => gone.close(resolve));
    const { result } = await call(createTestMember({ model: PROVIDERS.compatible(`http://127.0.0.1:${port}`) }));
    expect(result).toMatchObject({
      kind: "model.failed",
      retryable: true,
      message: expect.stringContaining("ECONNREFUSED"),
    });
  });

  test.each<[string, ProviderName, Answer]>([
    [
      "a request that the provider finds wrong",
      "anthropic",
      sending([...ANTHROPIC_TEXT, { type: "error", error: { type: "invalid_request_error", message: "No." } }]),
    ],
    [
      "a quota that is used up",
      "openai",
      sending([
        {
          type: "error",
          sequence_number: 1,
          error: { type: "insufficient_quota", code: "insufficient_quota", message: "Pay.", param: null },
        },
      ]),
    ],
  ])("%s in the stream does not pass (%s)", async (_, name, answer) => {
    expect((await fail(name, answer)).failed.retryable).toBe(false);
  });

  test("what was streamed of a response that failed is no reply", async () => {
    const { failed, streamed } = await fail("anthropic", sending(ANTHROPIC_TEXT));
    expect(streamed).toEqual(["Half"]);
    expect(failed.message).toBe(
      "The provider's stream ended before the response was complete. (anthropic.messages/claude-x)",
    );
  });

  test("a key that is missing is no failure of the provider", async () => {
    const model = createOpenAI({ apiKey: undefined as never, baseURL: "http://127.0.0.1:1" }).responses("gpt-x");
    const { OPENAI_API_KEY: before } = process.env;
    delete process.env["OPENAI_API_KEY"];
    try {
      const { result } = await call(createTestMember({ model }));
      expect(result).toMatchObject({ retryable: false, message: expect.stringContaining("OPENAI_API_KEY") });
    } finally {
      if (before !== undefined) process.env["OPENAI_API_KEY"] = before;
    }
  });
});

describe("§19 a provider that says nothing", () => {
  const hang: Answer = () => {};
  test.each<[string, ProviderName, Answer, { firstChunkMs?: number; chunkMs?: number }]>([
    ["before an answer", "compatible", hang, { firstChunkMs: 40 }],
    ["after its headers", "compatible", sending([], hang), { firstChunkMs: 40 }],
    ["after some text", "compatible", sending([CHUNK("Half")], hang), { chunkMs: 40 }],
    [
      "after an error, which is what is told",
      "compatible",
      sending([CHUNK("Half"), { error: { message: "Something broke." } }], hang),
      { chunkMs: 40 },
    ],
  ])("%s is given up, and may do better next time", async (_, name, answer, timeout) => {
    const { failed } = await fail(name, answer, timeout);
    expect(failed.retryable).toBe(true);
    expect(failed.message).toMatch(/said nothing for 0\.04 s|Something broke/);
  });

  test("the connection is closed", async () => {
    const closed = Promise.withResolvers<void>();
    const answer: Answer = (_, request) => request.socket.on("close", () => closed.resolve());
    await fail("compatible", answer, { firstChunkMs: 40 });
    await closed.promise;
  });
});

describe("what leaves the process of a failure", () => {
  const SECRET = "hunter2-and-more";
  test.each<[string, Answer]>([
    [
      "a key that the provider repeats",
      answering(401, { error: { message: `Incorrect API key provided: ${KEY}.`, code: "invalid_api_key" } }),
    ],
    [
      "a secret of the environment without any form of its own",
      answering(400, { error: { message: `bad header value ${SECRET}` } }),
    ],
    [
      "a request that the provider repeats",
      answering(400, {
        error: { message: `Authorization: Bearer ${KEY} was sent to https://ada:${SECRET}@x.example/v1?key=${KEY}` },
      }),
    ],
    [
      "a body that is no JSON",
      answering(200, `<html>${KEY} ${SECRET} /srv/app/secret.ts</html>`, { "content-type": "text/event-stream" }),
    ],
    ["a chunk that can not be read", sending([`{"choices": "${KEY} ${SECRET} /srv/app/secret.ts"}`])],
    [
      "an error of no known form",
      sending([`{"error": {"headers": {"authorization": "Bearer ${KEY}"}, "cookie": "${SECRET}"}}`]),
    ],
    [
      "a stack",
      answering(500, { error: { message: `Oops\n    at run (/srv/app/secret.ts:1:2)\n    at /srv/app/b.ts:1:1` } }),
    ],
  ])("holds no credential, stack or path: %s", async (_, answer) => {
    const provider = await serveProvider(answer);
    const model = PROVIDERS.compatible(provider.url);
    const { result } = await call(createTestMember({ model }, { ACME_SECRET: SECRET, HOME: "/srv/app" }));
    const shown = JSON.stringify(result);
    expect(result.kind).toBe("model.failed");
    expect(shown).not.toContain(KEY);
    expect(shown).not.toContain(SECRET);
    expect(shown).not.toMatch(/\/srv|secret\.ts:|\n {4}at/);
    expect(shown).toContain("acme.chat/m");
  });

  test("is of a length that a person can read", async () => {
    const { failed } = await fail("compatible", answering(500, { error: { message: "no ".repeat(5_000) } }));
    expect(failed.message.length).toBeLessThan(1_100);
  });
});
