import { describe, expect, test } from "vitest";
import { BASE, createTestApp, hanging, saying } from "../app.fixture.ts";
import { scriptedModel } from "../../testing/scripted-model.ts";

describe("POST session", () => {
  test("PROTOCOL: creates a session, accepted before it is worked on", async () => {
    const { post } = await createTestApp({ perform: hanging });
    const response = await post("/session", { message: "hello" });
    expect(response.status).toBe(202);
    const body = await response.json();
    expect(body).toEqual({
      ok: true,
      sessionId: expect.stringMatching(/^ses_/),
      status: "accepted",
      deliveryId: expect.stringMatching(/^del_/),
    });
    expect(response.headers.get("x-eve-session-id")).toBe(body.sessionId);
    expect(response.headers.get("cache-control")).toBe("no-store");
  });

  test("PROTOCOL: `{}` prewarms: a session without a turn", async () => {
    const { post, events } = await createTestApp({ perform: saying("hi") });
    const body = await (await post("/session", {})).json();
    expect(body).toEqual({ ok: true, sessionId: expect.any(String), status: "accepted" });
    expect(await events(body.sessionId)).toEqual([]);
  });

  test("an empty body is `{}`", async () => {
    const { post } = await createTestApp({ perform: saying("hi") });
    expect((await post("/session")).status).toBe(202);
  });

  test("the turn runs, and each message says which delivery it was", async () => {
    const { post, until } = await createTestApp({ perform: saying("hi") });
    const { sessionId, deliveryId } = await (await post("/session", { message: "hello" })).json();
    const events = await until(sessionId, "session.waiting");
    expect(events.map(({ type }) => type)).toEqual([
      "session.started",
      "turn.started",
      "message.received",
      "step.started",
      "message.completed",
      "step.completed",
      "turn.completed",
      "session.waiting",
    ]);
    expect(events[2]!.meta.deliveryIds).toEqual([deliveryId]);
  });

  test("real effects: a scripted model calls a tool and answers", async (context) => {
    const model = scriptedModel(
      [{ calls: [{ name: "add", input: { a: 1, b: 2 } }] }, { text: ["It is ", "3."] }],
      context,
    );
    const { create, until } = await createTestApp({ model });
    const events = await until(await create(), "turn.completed");
    expect(events.find(({ type }) => type === "action.result")?.data).toMatchObject({
      status: "completed",
      result: { output: { sum: 3 } },
    });
    expect(
      events
        .filter(({ type }) => type === "message.appended")
        .map(({ data }) => (data as { messageDelta: string }).messageDelta)
        .join(""),
    ).toBe("It is 3.");
    expect(events.find(({ type }) => type === "message.completed")?.data).toMatchObject({ message: "It is 3." });
  });

  test("parts: text and files are kept as they came", async () => {
    const { post, until } = await createTestApp({ perform: saying("hi") });
    const message = [
      { type: "text", text: "look" },
      { type: "file", mediaType: "image/png", url: "https://example.com/a.png", filename: "a.png" },
    ];
    const { sessionId } = await (await post("/session", { message })).json();
    const events = await until(sessionId, "message.received");
    expect(events.find(({ type }) => type === "message.received")?.data).toMatchObject({
      message: "look",
      parts: message,
    });
  });

  test("§16 the same operationId of the same principal is the same session and delivery", async () => {
    const { post, until } = await createTestApp({ perform: saying("hi") });
    const body = { message: "hello", operationId: "op-1" };
    const first = await (await post("/session", body)).json();
    const second = await (await post("/session", body)).json();
    expect(second).toEqual(first);
    expect(
      (await until(first.sessionId, "session.waiting")).filter(({ type }) => type === "turn.started"),
    ).toHaveLength(1);
    const other = await (await post("/session", body, { as: "bob" })).json();
    expect(other.sessionId).not.toBe(first.sessionId);
  });

  test("an operationId that comes back with another body is refused: no message is lost unnoticed", async () => {
    const { post, until } = await createTestApp({ perform: saying("hi") });
    const created = await (await post("/session", { operationId: "op" })).json();
    const again = await post("/session", { operationId: "op", message: "hello" });
    expect([again.status, (await again.json()).code]).toEqual([409, "OPERATION_CONFLICT"]);
    expect(await (await post("/session", { operationId: "op" })).json()).toEqual(created);

    const { sessionId } = created;
    await post(`/session/${sessionId}`, { operationId: "send", message: "one" });
    await until(sessionId, "session.waiting");
    const other = await post(`/session/${sessionId}`, { operationId: "send", message: "two" });
    expect([other.status, (await other.json()).code]).toEqual([409, "OPERATION_CONFLICT"]);
    expect((await post(`/session/${sessionId}`, { operationId: "send", message: "one" })).status).toBe(202);
  });

  test("a caller that was restarted repeats its operation with another address", async () => {
    const { post } = await createTestApp({ perform: hanging });
    const body = (port: number) => ({
      message: "x",
      operationId: "op",
      callback: { callId: "c1", subagentName: "lead", token: "t".repeat(32), url: `http://127.0.0.1:${port}/callback` },
    });
    const first = await (await post("/session", body(1))).json();
    expect(await (await post("/session", body(2))).json()).toEqual(first);
  });

  test("§10.3 another version of the protocol is refused naming both, one back is served", async () => {
    const { post } = await createTestApp({ perform: saying("hi") });
    const response = await post("/session", { message: "x", protocolVersion: 9 });
    expect(response.status).toBe(400);
    expect((await response.json()).error).toMatch(/9.*2/);
    expect((await post("/session", { message: "x", protocolVersion: 1 })).status).toBe(202);
  });

  test("a delegated session answers with its version", async () => {
    const { post } = await createTestApp({ perform: hanging });
    const callback = { callId: "c1", subagentName: "lead", token: "t".repeat(32), url: "http://127.0.0.1:9/callback" };
    expect(await (await post("/session", { message: "x", callback })).json()).toMatchObject({ protocolVersion: 2 });
  });

  test("in production a callback goes to nowhere inside; in development it may", async () => {
    const callback = { callId: "c1", subagentName: "lead", token: "t".repeat(32), url: "http://169.254.169.254/x" };
    for (const [mode, status] of [
      ["production", 400],
      ["development", 202],
    ] as const) {
      const { post } = await createTestApp({ perform: hanging, mode });
      const { sessionId } = await (await post("/session", { message: "x" })).json();
      expect((await post("/session", { message: "x", callback })).status).toBe(status);
      expect((await post(`/session/${sessionId}`, { message: "x", callback })).status).toBe(status);
    }
  });

  test("§18.4 a forwarded principal is refused", async () => {
    const { post } = await createTestApp({ perform: hanging });
    const someone = { authenticator: "a", principalId: "b", principalType: "user", attributes: {} };
    const response = await post("/session", {
      message: "x",
      forwardedPrincipal: { current: someone, initiator: someone },
    });
    expect(response.status).toBe(403);
    expect(await response.json()).toMatchObject({ ok: false, code: "FORBIDDEN" });
  });

  test("§18.4 a malformed forwarded principal is 400", async () => {
    const { post } = await createTestApp({ perform: hanging });
    const response = await post("/session", { message: "x", forwardedPrincipal: { current: "ada" } });
    expect(response.status).toBe(400);
    expect((await response.json()).error).toContain("forwardedPrincipal");
  });
});

describe("POST session/:id", () => {
  test("PROTOCOL: a message is accepted and answered in the next turn", async () => {
    const { create, post, until } = await createTestApp({ perform: saying("hi") });
    const sessionId = await create();
    await until(sessionId, "session.waiting");
    const response = await post(`/session/${sessionId}`, { message: "more" });
    expect(response.status).toBe(202);
    expect(await response.json()).toEqual({ ok: true, sessionId, status: "accepted", deliveryId: expect.any(String) });
    expect((await until(sessionId, "session.waiting", 2)).filter(({ type }) => type === "turn.started")).toHaveLength(
      2,
    );
  });

  test("the same operationId is the same delivery", async () => {
    const { create, post, until } = await createTestApp({ perform: saying("hi") });
    const sessionId = await create();
    await until(sessionId, "session.waiting");
    const body = { message: "more", operationId: "op" };
    const [first, second] = [await post(`/session/${sessionId}`, body), await post(`/session/${sessionId}`, body)];
    expect(await second.json()).toEqual(await first.json());
    await post(`/session/${sessionId}`, { message: "last" });
    const events = await until(sessionId, "session.waiting", 3);
    expect(events.flatMap((event) => (event.type === "message.received" ? [event.data.message] : []))).toEqual([
      "hello",
      "more",
      "last",
    ]);
  });

  test("a message that is missing is called missing, a misspelled one misspelled", async () => {
    const { create, post } = await createTestApp({ perform: saying("hi") });
    const sessionId = await create();
    const error = async (body: unknown): Promise<unknown> => {
      const response = await post(`/session/${sessionId}`, body);
      return [response.status, ((await response.json()) as { error: string }).error];
    };
    expect(await error({})).toEqual([400, "message: is missing. Send message."]);
    expect(await error({ mesage: "x" })).toEqual([400, expect.stringMatching(/^mesage: .*message, turnPolicy/)]);
    expect(await error({ inputResponses: [] })).toEqual([400, expect.stringMatching(/^inputResponses: /)]);
  });

  test.each([
    ["no text", ""],
    ["a blank text", " \n"],
    ["no parts", []],
    [
      "blank parts",
      [
        { type: "text", text: "" },
        { type: "text", text: " " },
      ],
    ],
  ])("a message of %s is refused: providers would refuse it, too, at every later turn", async (_, message) => {
    const { create, post } = await createTestApp({ perform: saying("hi") });
    const response = await post(`/session/${await create()}`, { message });
    expect(response.status).toBe(400);
    expect(((await response.json()) as { error: string }).error).toMatch(/^message: must not be empty/);
  });

  test("an ended session answers 409 session_not_active", async () => {
    const { create, post, until } = await createTestApp({ perform: saying("hi") });
    const sessionId = await create();
    await post(`/session/${sessionId}/reset`, {});
    await until(sessionId, "session.completed");
    const response = await post(`/session/${sessionId}`, { message: "more" });
    expect(response.status).toBe(409);
    expect(await response.json()).toMatchObject({ ok: false, code: "session_not_active", error: expect.any(String) });
  });
});

describe("POST session/:id/cancel", () => {
  test("PROTOCOL: 202 accepted, and the turn is cancelled", async () => {
    const { create, post, until } = await createTestApp({ perform: hanging });
    const sessionId = await create();
    await until(sessionId, "step.started");
    const response = await post(`/session/${sessionId}/cancel`, {});
    expect([response.status, await response.json()]).toEqual([202, { status: "accepted" }]);
    await until(sessionId, "turn.cancelled");
  });

  test("PROTOCOL: 200 no_active_turn without a turn, or for another's id", async () => {
    const { create, post, until } = await createTestApp({ perform: hanging });
    const sessionId = await create();
    await until(sessionId, "step.started");
    const other = await post(`/session/${sessionId}/cancel`, { turnId: "turn_9" });
    expect([other.status, await other.json()]).toEqual([200, { status: "no_active_turn" }]);
    await post(`/session/${sessionId}/cancel`, { turnId: "turn_0" });
    await until(sessionId, "turn.cancelled");
    const none = await post(`/session/${sessionId}/cancel`);
    expect([none.status, await none.json()]).toEqual([200, { status: "no_active_turn" }]);
  });
});

describe("POST session/:id/reset", () => {
  test("PROTOCOL: ends the session, once", async () => {
    const { create, post, until } = await createTestApp({ perform: saying("hi") });
    const sessionId = await create();
    const response = await post(`/session/${sessionId}/reset`, { reason: "done" });
    expect([response.status, await response.json()]).toEqual([200, { status: "reset", previousSessionId: sessionId }]);
    const events = await until(sessionId, "session.completed");
    expect(events.at(-1)!.data).toMatchObject({ reason: "done" });
    expect(await (await post(`/session/${sessionId}/reset`, {})).json()).toEqual({ status: "no_active_session" });
  });
});

describe("§18.3 ownership: a stranger gets what an unknown id gets", () => {
  const verbs = [
    ["send", "POST", "", { message: "x" }],
    ["cancel", "POST", "/cancel", {}],
    ["reset", "POST", "/reset", {}],
    ["stream", "GET", "/stream", undefined],
    ["child stream", "GET", "/subagents/c1/ses_x/stream", undefined],
  ] as const;

  test.each(verbs)("%s", async (_, method, path, body) => {
    const { app, create, until } = await createTestApp({ perform: hanging });
    const sessionId = await create();
    await until(sessionId, "step.started");
    const ask = async (id: string): Promise<unknown[]> => {
      const response = await app.request(`${BASE}/session/${id}${path}`, {
        method,
        headers: { "x-user": "mallory", "content-type": "application/json" },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      return [response.status, (await response.text()).replaceAll(id, "ID"), response.headers.get("x-eve-session-id")];
    };
    expect(await ask(sessionId)).toEqual(await ask("ses_unknown"));
  });

  test("nothing a stranger sends changes the session", async () => {
    const { create, post, until, events } = await createTestApp({ perform: hanging });
    const sessionId = await create();
    const before = (await until(sessionId, "step.started")).length;
    await post(`/session/${sessionId}`, { message: "x" }, { as: "mallory" });
    await post(`/session/${sessionId}/cancel`, {}, { as: "mallory" });
    await post(`/session/${sessionId}/reset`, {}, { as: "mallory" });
    await post(`/session/${sessionId}`, { message: "mine", turnPolicy: "queue" });
    expect(await events(sessionId)).toHaveLength(before);
  });

  test("a principal of the same name from another authenticator is a stranger", async () => {
    const other = () => ({
      authenticator: "other",
      principalId: "ada",
      principalType: "user" as const,
      attributes: {},
    });
    const { app, create } = await createTestApp({
      perform: hanging,
      auth: [
        ({ headers }) =>
          headers.has("x-user")
            ? { authenticator: "header", principalId: "ada", principalType: "user", attributes: {} }
            : null,
        other,
      ],
    });
    const sessionId = await create();
    expect((await app.request(`${BASE}/session/${sessionId}/stream?follow=false`)).status).toBe(404);
  });
});
