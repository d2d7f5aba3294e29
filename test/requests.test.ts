import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { converse, eventsOf, ofType } from "./support/converse.ts";
import { createMember, type Member } from "./support/member.ts";
import { postJson, type Answer } from "./support/post-json.ts";
import { readStore } from "./support/read-store.ts";
import { buildWorkspace, type BuiltWorkspace } from "./support/build-workspace.ts";
import { startMembers, type RunningWorkspace } from "./support/start-workspace.ts";
import { until } from "./support/until.ts";

let workspace: BuiltWorkspace;
let members: RunningWorkspace;
let foreman: Member;
let research: Member;
let sessionId: string;

beforeAll(async () => {
  workspace = await buildWorkspace(["agents/research", "agents/foreman"]);
  members = await startMembers(workspace);
  ({ foreman, research } = members);
  sessionId = await converse(foreman.api, "Hello");
});
afterAll(async () => {
  await members?.[Symbol.asyncDispose]();
  workspace?.[Symbol.dispose]();
});

async function send(method: string, path: string, init: RequestInit = {}): Promise<Answer> {
  const response = await fetch(`${foreman.origin}${path}`, { method, ...init });
  return { status: response.status, headers: response.headers, body: (await response.json()) as Answer["body"] };
}

/** Every error has the one shape, is never cached and shows nothing of the inside. */
function expectProblem(answer: Answer, status: number, code: string): void {
  expect(answer.body).toEqual({ ok: false, error: expect.any(String), code });
  expect(answer.status).toBe(status);
  expect(answer.headers.get("cache-control")).toBe("no-store");
  expect(answer.body.error).not.toMatch(/\n\s+at |(?:^|[\s"'(])\/(?!eve\/)[\w.-]+\//);
}

test("health is public and exactly what the protocol says", async () => {
  const { status, body } = await send("GET", "/eve/foreman/v1/health");
  expect({ status, body }).toEqual({
    status: 200,
    body: { ok: true, status: "ready", workflowId: expect.any(String) },
  });
  expect((await send("GET", "/eve/v1/health")).body).toEqual(body);
});

test("info names the agents, says that the offline model answers, and shows no path of the machine", async () => {
  const { body } = await send("GET", "/eve/foreman/v1/info");
  expect(body).toMatchObject({ kind: "eve-agent-info", member: "foreman" });
  const text = JSON.stringify(body);
  expect(text).toContain("offline model");
  expect(text).not.toContain(workspace.root);
});

test("create answers 202 with the session in body and header", async () => {
  const { status, headers, body } = await postJson(`${foreman.api}/session`, { message: "Hello" });
  expect(status).toBe(202);
  expect(body).toEqual({ ok: true, sessionId: expect.any(String), status: "accepted", deliveryId: expect.any(String) });
  expect(headers.get("x-eve-session-id")).toBe(body.sessionId);
});

test("an empty create opens a session that waits for its first message", async () => {
  const { status, body } = await postJson(`${foreman.api}/session`, {});
  expect(status).toBe(202);
  expect(body).toEqual({ ok: true, sessionId: expect.any(String), status: "accepted" });
  expect(await eventsOf(foreman.api, String(body.sessionId))).toEqual([]);
});

test("the same operation id opens one session and is read once", async () => {
  const create = () => postJson(`${foreman.api}/session`, { message: "Hello", operationId: "once" });
  const [first, ...others] = await Promise.all([create(), create(), create()]);
  for (const { status, body } of others) expect({ status, body }).toEqual({ status: 202, body: first.body });
  const id = String(first.body.sessionId);
  const deliver = () => postJson(`${foreman.api}/session/${id}`, { message: "Hello again", operationId: "twice" });
  const deliveries = await Promise.all([deliver(), deliver()]);
  expect(new Set(deliveries.map(({ body }) => body.deliveryId)).size).toBe(1);
  const events = await until("both messages are answered", async () => {
    const read = await eventsOf(foreman.api, id);
    return read.at(-1)?.type === "session.waiting" && ofType(read, "message.received").length >= 2 ? read : undefined;
  });
  expect(ofType(events, "message.received").map(({ data }) => data.message)).toEqual(["Hello", "Hello again"]);
});

describe("400", () => {
  test.each<[string, string, string]>([
    ["not JSON", "{", "JSON"],
    ["a list", "[]", "the body"],
    ["a message of the wrong type", '{"message":5}', "message"],
    ["an empty message", '{"message":""}', "message"],
    ["a message without parts", '{"message":[]}', "message"],
    ["an unknown kind of part", '{"message":[{"type":"video"}]}', "message"],
    ["an operation id that is too long", JSON.stringify({ message: "x", operationId: "x".repeat(300) }), "operationId"],
    [
      "a callback without a URL",
      '{"message":"x","callback":{"callId":"a","subagentName":"b","token":"0123456789abcdef"}}',
      "callback.url",
    ],
    ["another version of the protocol", '{"message":"x","protocolVersion":9}', "protocolVersion"],
  ])("on create: %s", async (_, body, named) => {
    const answer = await send("POST", "/eve/foreman/v1/session", {
      body,
      headers: { "content-type": "application/json" },
    });
    expectProblem(answer, 400, "BAD_REQUEST");
    expect(answer.body.error).toContain(named);
  });

  test.each<[string, string, string]>([
    ["no message", "{}", "message"],
    ["an unknown policy", '{"message":"x","turnPolicy":"later"}', "turnPolicy"],
  ])("on send: %s", async (_, body, named) => {
    const answer = await send("POST", `/eve/foreman/v1/session/${sessionId}`, {
      body,
      headers: { "content-type": "application/json" },
    });
    expectProblem(answer, 400, "BAD_REQUEST");
    expect(answer.body.error).toContain(named);
  });

  test("on stream: a start index that is no number", async () => {
    const answer = await send("GET", `/eve/foreman/v1/session/${sessionId}/stream?startIndex=first`);
    expectProblem(answer, 400, "BAD_REQUEST");
    expect(answer.body.error).toContain("startIndex");
  });
});

describe("401", () => {
  test("in production, where nothing opens the API, for every route but health", async () => {
    await using closed = await createMember("research", workspace.server("research"), { EVE_DEV: "0" });
    await closed.start();
    const routes = [
      ["GET", "/info"],
      ["POST", "/session"],
      ["POST", "/session/x"],
      ["POST", "/session/x/cancel"],
      ["GET", "/session/x/stream"],
    ];
    for (const [method, path] of routes) {
      const response = await fetch(`${closed.api}${path}`, { method: method! });
      const answer = {
        status: response.status,
        headers: response.headers,
        body: (await response.json()) as Answer["body"],
      };
      expectProblem(answer, 401, "UNAUTHORIZED");
      expect(answer.headers.get("www-authenticate")).toBeTruthy();
    }
    for (const headers of [
      { host: "localhost" },
      { "x-forwarded-host": "localhost" },
      { "x-forwarded-for": "127.0.0.1" },
    ]) {
      expect((await fetch(`${closed.api}/info`, { headers })).status).toBe(401);
    }
  });
});

test("403: a principal that nobody may forward", async () => {
  const somebody = { authenticator: "a", principalId: "b", principalType: "user", attributes: {} };
  const body = { message: "x", forwardedPrincipal: { current: somebody, initiator: somebody } };
  expectProblem(await postJson(`${foreman.api}/session`, body), 403, "FORBIDDEN");
});

describe("404", () => {
  test.each<[string, string]>([
    ["GET", "/"],
    ["GET", "/eve/research/v1/health"],
    ["GET", "/eve/foreman/v1/nothing"],
    ["GET", "/eve/foreman/v1/session/ses_unknown/stream"],
    ["GET", "/eve/foreman/v1/session/ses_unknown/subagents/a/b/stream"],
  ])("%s %s", async (method, path) => {
    expectProblem(await send(method, path), 404, "NOT_FOUND");
  });
});

test("what an unknown session answers to each verb", async () => {
  const url = `${foreman.api}/session/ses_unknown`;
  expectProblem(await postJson(url, { message: "x" }), 409, "session_not_active");
  expect(await postJson(`${url}/cancel`, {})).toMatchObject({ status: 200, body: { status: "no_active_turn" } });
  expect(await postJson(`${url}/reset`, {})).toMatchObject({ status: 200, body: { status: "no_active_session" } });
});

describe("413", () => {
  const large = JSON.stringify({ message: "x".repeat(4 * 1024 * 1024) });

  test("a body that says how large it is", async () => {
    expectProblem(await postJson(`${foreman.api}/session`, JSON.parse(large)), 413, "PAYLOAD_TOO_LARGE");
  });

  test("a body that does not say how large it is", async () => {
    const init = { method: "POST", headers: { "content-type": "application/json" }, duplex: "half" };
    const response = await fetch(`${foreman.api}/session`, {
      ...init,
      body: new Blob([large]).stream(),
    } as RequestInit);
    expect(response.status).toBe(413);
    await response.body?.cancel();
  });
});

describe("415", () => {
  const create = (headers: Record<string, string>) =>
    send("POST", "/eve/foreman/v1/session", { body: '{"message":"Hello"}', headers });

  test("text that is not declared as JSON", async () => {
    expectProblem(await create({ "content-type": "text/plain" }), 415, "UNSUPPORTED_MEDIA_TYPE");
  });

  test("a form of a web page, though not what curl -d sends by itself", async () => {
    const form = { "content-type": "application/x-www-form-urlencoded" };
    expect((await create(form)).status).toBe(202);
    // A page of this machine; one of any other site is refused for that alone.
    expectProblem(await create({ ...form, origin: "http://localhost:5173" }), 415, "UNSUPPORTED_MEDIA_TYPE");
    expectProblem(await create({ ...form, origin: "https://example.com" }), 401, "UNAUTHORIZED");
    expectProblem(await create({ ...form, "sec-fetch-site": "cross-site" }), 415, "UNSUPPORTED_MEDIA_TYPE");
  });
});

describe("a callback", () => {
  let url: string;
  let body: Record<string, unknown>;

  beforeAll(async () => {
    const id = await converse(foreman.api, "Ask research what a tide is");
    const [called] = readStore(research.store)
      .sessions.flatMap(({ log }) => log)
      .filter(({ type }) => type === "outgoing.queued");
    ({ url, body } = called!.data.outgoing as { url: string; body: Record<string, unknown> });
    expect(ofType(await eventsOf(foreman.api, id), "task.settled")).toHaveLength(1);
  });

  test("carries the shape of the protocol and keeps the caller's mount", () => {
    expect(url.startsWith(`${foreman.api}/callback/`)).toBe(true);
    expect(body).toMatchObject({
      kind: "turn.completed",
      subagentName: "research",
      outcome: { kind: "parked", result: { kind: "succeeded" }, usageDelta: expect.any(Object) },
    });
  });

  test("that is repeated answers 202 again and changes nothing", async () => {
    const before = readStore(foreman.store).sessions.map(({ log }) => log.length);
    expect(await postJson(url, body)).toMatchObject({ status: 202, body: { ok: true } });
    expect(readStore(foreman.store).sessions.map(({ log }) => log.length)).toEqual(before);
  });

  test("with a token that this member did not make is 404", async () => {
    const [payload, signature] = url.split("/").at(-1)!.split(".");
    const forged = Buffer.from(JSON.stringify([sessionId, "call"])).toString("base64url");
    for (const token of [
      "x",
      `${forged}.${signature}`,
      `${payload}.${signature!.replace(/^./, (c) => (c === "A" ? "B" : "A"))}`,
      `${payload}.`,
    ]) {
      expectProblem(await postJson(`${foreman.api}/callback/${token}`, body), 404, "NOT_FOUND");
    }
  });

  test("of the wrong shape is 400", async () => {
    expectProblem(await postJson(url, { kind: "turn.completed" }), 400, "BAD_REQUEST");
  });
});
