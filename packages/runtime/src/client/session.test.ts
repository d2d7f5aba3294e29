import { expect, test } from "vitest";
import { z } from "zod";
import { Client, ClientError, type ClientSession } from "./index.ts";
import {
  answerJson,
  listen,
  streamLines,
  toLines,
  type Received,
  type TestServer,
} from "./misbehaving-server.fixture.ts";

/** A session of an agent that answers everything with `answer`. */
async function attach(
  answer: object,
  status = 200,
): Promise<{ client: Client; session: ClientSession; server: TestServer; asked: () => unknown[] }> {
  const server = await listen((_, response) => answerJson(response, status, answer));
  const client = new Client({ host: `${server.origin}/eve/foreman?key=1`, reconnectDelayMs: 1 });
  const path = /^\/eve\/foreman\/v1/;
  const toAsked = ({ method, path: full, query, body }: Received): unknown[] => {
    const own = [...query].filter(([name]) => name !== "key");
    return [method, full.replace(path, ""), ...(own.length === 0 ? [] : [Object.fromEntries(own)]), body];
  };
  return { client, session: client.sessions.attach("ses 1"), server, asked: () => server.received.map(toAsked) };
}

test("messages go out with what they were sent with, and nothing else", async () => {
  const { client, session, asked } = await attach({ sessionId: "s", deliveryId: "d" }, 202);
  await session.send("hello");
  await session.send([{ type: "text", text: "hello" }], {
    turnPolicy: "queue",
    clientContext: { route: "/billing" },
    outputSchema: { type: "object" },
    operationId: "o",
    headers: { "x-a": "b" },
    signal: new AbortController().signal,
  });
  await session.respond([{ requestId: "r", text: "yes" }], { clientContext: ["a"], operationId: "p" });
  await client.sessions.create();
  await client.sessions.create({ message: "hello", clientContext: "c", operationId: "q" });
  expect(asked()).toEqual([
    ["POST", "/session/ses%201", { message: "hello" }],
    [
      "POST",
      "/session/ses%201",
      {
        message: [{ type: "text", text: "hello" }],
        turnPolicy: "queue",
        clientContext: { route: "/billing" },
        outputSchema: { type: "object" },
        operationId: "o",
      },
    ],
    [
      "POST",
      "/session/ses%201",
      { inputResponses: [{ requestId: "r", text: "yes" }], clientContext: ["a"], operationId: "p" },
    ],
    ["POST", "/session", {}],
    ["POST", "/session", { message: "hello", clientContext: "c", operationId: "q" }],
  ]);
});

test("a schema of a library goes out as JSON Schema", async () => {
  const { session, asked } = await attach({ deliveryId: "d" }, 202);
  const outputSchema = z.object({ title: z.string(), count: z.number().default(1) });
  await session.send("hello", { outputSchema });
  expect(asked()).toMatchObject([
    ["POST", "/session/ses%201", { outputSchema: { type: "object", required: ["title", "count"] } }],
  ]);
});

test.each<[string, (session: ClientSession) => Promise<unknown>, unknown[]]>([
  ["cancel", (session) => session.cancel(), ["POST", "/session/ses%201/cancel", {}]],
  ["cancel of one turn", (s) => s.cancel({ turnId: "t" }), ["POST", "/session/ses%201/cancel", { turnId: "t" }]],
  ["compact", (session) => session.compact(), ["POST", "/session/ses%201/compact", {}]],
  ["clear", (session) => session.clear(), ["POST", "/session/ses%201/clear", {}]],
])("%s says whether there was something to do", async (_, act, request) => {
  const accepted = await attach({ status: "accepted" }, 202);
  expect(await act(accepted.session)).toEqual({ status: "accepted", sessionId: "ses 1" });
  expect(accepted.asked()).toEqual([request]);
  const idle = await attach({ status: "no_active_turn" });
  expect(await act(idle.session)).toMatchObject({ status: "no_active_turn" });
});

test("reset ends the session, with a reason", async () => {
  const { session, asked } = await attach({ status: "reset", previousSessionId: "ses 1" });
  expect(await session.reset({ reason: "done" })).toMatchObject({ status: "reset", previousSessionId: "ses 1" });
  expect(asked()).toEqual([["POST", "/session/ses%201/reset", { reason: "done" }]]);
});

test("fork gives a handle of the new session", async () => {
  const { session, asked } = await attach({ ok: true, sessionId: "ses 2", status: "accepted" }, 202);
  expect((await session.fork()).state).toEqual({ sessionId: "ses 2", streamIndex: 0 });
  await session.fork({ at: 7 });
  expect(asked()).toEqual([
    ["POST", "/session/ses%201/fork", {}],
    ["POST", "/session/ses%201/fork", { at: 7 }],
  ]);
});

test("delete removes the session", async () => {
  const { session, asked } = await attach({ status: "deleted" });
  expect(await session.delete()).toEqual({ status: "deleted" });
  expect(asked()).toEqual([["DELETE", "/session/ses%201", undefined]]);
});

test("list reads a page", async () => {
  const page = { sessions: [{ sessionId: "s" }], cursor: "next" };
  const { client, asked } = await attach(page);
  expect(await client.sessions.list()).toEqual(page);
  await client.sessions.list({ limit: 2, cursor: "here" });
  expect(asked()).toEqual([
    ["GET", "/session", undefined],
    ["GET", "/session", { limit: "2", cursor: "here" }, undefined],
  ]);
});

test("export gives what is stored as it comes, and fails when it is cut off", async () => {
  const { origin } = await listen((request, response) => {
    response.write('{"a":1}\n', () => (request.nth === 0 ? response.end("{}\n") : response.destroy()));
  });
  const session = new Client({ host: origin }).sessions.attach("s");
  expect(await new Response(await session.export()).text()).toBe('{"a":1}\n{}\n');
  const cut = await session.export();
  await expect(new Response(cut).text()).rejects.toThrow();
  await expect((await attach({ code: "NOT_FOUND" }, 404)).session.export()).rejects.toMatchObject({ status: 404 });
});

test("a refusal says its code, and is not repeated", async () => {
  const { session, server } = await attach({ ok: false, error: "Over.", code: "session_not_active" }, 409);
  const requests = [session.send("x", { operationId: "o" }), session.fork(), session.delete(), session.reset()];
  for (const error of await Promise.all(requests.map((request) => request.catch((thrown: unknown) => thrown)))) {
    expect(error).toBeInstanceOf(ClientError);
    expect(error).toMatchObject({ status: 409, code: "session_not_active" });
  }
  expect(server.received.length).toBe(requests.length);
});

test("a message is sent again when that is harmless: with an operation id, or when the session is not ready", async () => {
  const answers: [number, object][] = [
    [409, { code: "session_not_ready" }],
    [503, {}],
    [0, {}],
    [202, { deliveryId: "d" }],
  ];
  const server = await listen(({ nth }, response) => {
    const [status, body] = answers[nth]!;
    if (status === 0) response.destroy();
    else answerJson(response, status, body);
  });
  const session = new Client({ host: server.origin, reconnectDelayMs: 1 }).sessions.attach("s");
  expect((await session.send("x", { operationId: "o" })).deliveryId).toBe("d");
  expect(server.received.map(({ body }) => body)).toEqual(answers.map(() => ({ message: "x", operationId: "o" })));

  const plain = await listen(({ nth }, response) =>
    answerJson(response, nth === 0 ? 409 : 503, { code: nth === 0 ? "session_not_ready" : "MEMBER_UNAVAILABLE" }),
  );
  const other = new Client({ host: plain.origin, reconnectDelayMs: 1 }).sessions.attach("s");
  await expect(other.send("x")).rejects.toMatchObject({ status: 503 });
  expect(plain.received.length).toBe(2);
});

test("it is not sent for ever", async () => {
  const server = await listen((_, response) => answerJson(response, 503, {}));
  const client = new Client({ host: server.origin, reconnectDelayMs: 1, maxReconnectAttempts: 2 });
  await expect(client.sessions.create({ message: "x", operationId: "o" })).rejects.toMatchObject({ status: 503 });
  expect(server.received.length).toBe(3);
});

test("a called agent is read at its streamPath, with the client's credentials and a cursor of its own", async () => {
  const lines = toLines(["session.started"], ["session.completed"]);
  const server = await listen((request, response) => streamLines(request, response, lines));
  const client = new Client({ host: `${server.origin}/base/eve/foreman?key=1`, auth: { bearer: "t" } });
  const session = client.sessions.attach("s");
  const streamPath = "/eve/foreman/v1/session/s/subagents/c%2F1/ses_child/stream";
  const data = {
    callId: "c/1",
    turnId: "turn_0",
    taskId: "task",
    name: "research",
    sessionId: "ses_child",
    streamPath,
  };
  const meta = { id: "evt_0", at: "2026-11-30T00:00:00.000Z" };
  const agent = session.agent({ type: "agent.started", data, meta });
  expect(agent).toMatchObject({ name: "research", sessionId: "ses_child", taskId: "task" });
  for await (const event of agent.stream()) if (event.type === "session.started") break;
  for await (const _ of agent.stream());
  expect(
    server.received.map(({ path, query, headers }) => [path, query.get("startIndex"), headers.authorization]),
  ).toEqual(["0", "1"].map((index) => [`/base${streamPath}`, index, "Bearer t"]));
  expect([server.received[0]!.query.get("key"), session.state.streamIndex]).toEqual(["1", 0]);

  for (const elsewhere of [
    "//evil.example/stream",
    "/\\evil.example/stream",
    "https://evil.example/eve/v1/session/s/stream",
    "@evil.example/eve/stream",
    "/eve/../admin/stream",
    "/eve/%2E./admin/stream",
    "/eve/v1/session/./s/stream",
    "/eve/v1/session/s/stream?x=1",
    "/eve/v1/session/s/cancel",
    "/admin/stream",
  ]) {
    const started = { type: "agent.started", data: { ...data, streamPath: elsewhere }, meta } as const;
    expect(() => session.agent(started), elsewhere).toThrow("streamPath");
  }
});

test("a snapshot holds every event and the cursor behind them, and leaves the handle where it is", async () => {
  const lines = toLines(["session.started"], ["turn.started"]);
  const server = await listen((request, response) => streamLines(request, response, lines));
  const session = new Client({ host: server.origin }).sessions.attach("s");
  const snapshot = await session.snapshot();
  expect(snapshot.events.map((event) => JSON.stringify(event))).toEqual(lines);
  expect(snapshot.session).toEqual({ sessionId: "s", streamIndex: 2 });
  expect(session.state.streamIndex).toBe(0);
});
