import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { replyOf } from "./support/check-stream.ts";
import { buildWorkspace } from "./support/build-workspace.ts";
import { converse, eventsOf, ofType, say } from "./support/converse.ts";
import { createMember, type Member } from "./support/member.ts";
import { postJson } from "./support/post-json.ts";

const ADA = { authorization: `Basic ${btoa("ada:engine")}` };
const BOB = { authorization: `Basic ${btoa("bob:builder")}` };
const UNKNOWN = "ses_00000000000000000000000000";

const cleanup = new AsyncDisposableStack();
let vault: Member;
let sessionId: string;

beforeAll(async () => {
  const workspace = cleanup.use(await buildWorkspace(["test/fixtures/vault"]));
  // Nothing but the authored walk decides, development or not.
  vault = cleanup.use(await createMember("vault", workspace.server("vault"), { EVE_DEV: "1" }));
  await vault.start();
  sessionId = await converse(vault.api, "The key is under the mat", ADA);
});
afterAll(() => cleanup.disposeAsync());

describe("a session of ada", () => {
  const VERBS: readonly [string, string, string, unknown?][] = [
    ["send", "POST", "", { message: "Hello" }],
    ["cancel", "POST", "/cancel", {}],
    ["compact", "POST", "/compact", {}],
    ["clear", "POST", "/clear", {}],
    ["reset", "POST", "/reset", {}],
    ["stream", "GET", "/stream?follow=false"],
    ["child stream", "GET", "/subagents/call/ses_child/stream?follow=false"],
  ];

  test.each(VERBS)("%s: bob gets exactly what an unknown id gets", async (_, method, path, body) => {
    const ask = async (id: string) => {
      const response = await fetch(`${vault.api}/session/${id}${path}`, {
        method,
        headers: { ...BOB, "content-type": "application/json" },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      const { date: _date, ...headers } = Object.fromEntries(response.headers);
      return { status: response.status, headers, text: (await response.text()).replaceAll(id, "<id>") };
    };
    const [hers, unknown] = [await ask(sessionId), await ask(UNKNOWN)];
    expect(hers).toEqual(unknown);
    expect(hers.text).not.toContain("mat");
  });

  test("is untouched by all that, and goes on for ada", async () => {
    await say(vault.api, sessionId, "Hello", ADA);
    const events = await eventsOf(vault.api, sessionId, ADA);
    expect(ofType(events, "message.received").map(({ data }) => data.message)).toEqual([
      "The key is under the mat",
      "Hello",
    ]);
    expect(replyOf(events)).not.toBe("");
  });
});

test("the same operation id of two people is two sessions", async () => {
  const create = (who: Record<string, string>) =>
    postJson(`${vault.api}/session`, { message: "Hello", operationId: "op" }, who);
  const [ada, bob, adaAgain] = [await create(ADA), await create(BOB), await create(ADA)];
  expect(ada.body.sessionId).not.toBe(bob.body.sessionId);
  expect(adaAgain.body).toEqual(ada.body);
});

test.each([
  ["nobody", {}],
  ["a wrong password", { authorization: `Basic ${btoa("ada:builder")}` }],
  ["another scheme", { authorization: "Bearer engine" }],
  ["a header that is not base64", { authorization: "Basic ?" }],
])("%s gets 401 with the challenges of the walk", async (_, headers) => {
  for (const path of ["/info", `/session/${sessionId}/stream?follow=false`]) {
    const response = await fetch(`${vault.api}${path}`, { headers: headers as Record<string, string> });
    expect(response.status).toBe(401);
    expect(response.headers.get("www-authenticate")).toMatch(/^Basic realm="agent", charset="UTF-8"/);
    expect(await response.json()).toMatchObject({ ok: false, code: "UNAUTHORIZED" });
  }
  expect((await postJson(`${vault.api}/session`, { message: "x" }, headers as Record<string, string>)).status).toBe(
    401,
  );
});
