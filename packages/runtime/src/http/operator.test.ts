import { describe, expect, test } from "vitest";
import { localDev, type Authenticator } from "../channels/auth.ts";
import { scriptedModel } from "../testing/scripted-model.ts";
import { BASE, byHeader, createTestApp, hanging, saying, type TestApp } from "./app.fixture.ts";
import { createOperatorTokens } from "./operator-token.ts";

interface Request {
  readonly method: string;
  readonly path: string;
  readonly body?: unknown;
  readonly token?: string;
}

/** Sends what an operator sends; `token`: one that was made for something else. */
function operate({ app, operator }: TestApp, { method, path, body, token }: Request): Promise<Response> {
  const target = `${BASE}${path}`;
  return Promise.resolve(
    app.request(target, {
      method,
      headers: {
        authorization: `Bearer ${token ?? operator.create({ method, target })}`,
        "content-type": "application/json",
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    }),
  );
}

describe("the operator", () => {
  test("deletes the session of anybody", async () => {
    const app = await createTestApp({ perform: saying("ok") });
    const sessionId = await app.create("hi");
    await app.until(sessionId, "session.waiting");
    const response = await operate(app, { method: "DELETE", path: `/session/${sessionId}` });
    expect([response.status, await response.json()]).toEqual([200, { status: "deleted" }]);
    expect(await app.host.head(sessionId)).toBeUndefined();
    expect((await operate(app, { method: "DELETE", path: `/session/${sessionId}` })).status).toBe(404);
  });

  test("has a failed turn done again as who it was", async () => {
    const error = { message: "The provider refuses." };
    const app = await createTestApp({ model: scriptedModel([{ error }, { text: "ok" }]) });
    const sessionId = await app.create("hi");
    await app.until(sessionId, "turn.failed");
    const response = await operate(app, { method: "POST", path: `/session/${sessionId}/retry`, body: {} });
    expect([response.status, await response.json()]).toEqual([
      202,
      { ok: true, sessionId, status: "accepted", turnId: "turn_1" },
    ]);
    await app.until(sessionId, "turn.completed");
    const started = await app.host.stateAt(sessionId, (await app.events(sessionId)).findLastIndex(isTurnStarted));
    expect(started!.turn!.principal).toMatchObject({ authenticator: "header", principalId: "ada" });
  });

  test("forks a session for whom it belongs to", async () => {
    const app = await createTestApp({ perform: saying("ok") });
    const sessionId = await app.create("hi");
    await app.until(sessionId, "session.waiting");
    const response = await operate(app, { method: "POST", path: `/session/${sessionId}/fork`, body: {} });
    const fork = (await response.json()).sessionId as string;
    expect((await app.host.head(fork))!.owner).toMatchObject({ authenticator: "header", principalId: "ada" });
    expect((await app.post(`/session/${fork}`, { message: "on" })).status).toBe(202);
  });

  test("is not in the list of authenticators, which none of them is asked for it", async () => {
    const seen: string[] = [];
    const spy: Authenticator = ({ headers }) => {
      seen.push(headers.get("authorization")!);
      return null;
    };
    const app = await createTestApp({ perform: saying("ok"), auth: [spy, byHeader] });
    const sessionId = await app.create("hi");
    seen.length = 0;
    expect((await operate(app, { method: "DELETE", path: `/session/${sessionId}` })).status).toBe(200);
    expect((await operate(app, { method: "GET", path: "/info" })).status).toBe(401);
    expect(seen).toEqual([]);
  });
});

describe("nobody else is the operator:", () => {
  const refused: readonly [string, string, string][] = [
    ["to see what the member is", "GET", "/info"],
    ["to list the sessions", "GET", "/session"],
    ["to open one", "POST", "/session"],
    ["to read one", "GET", "/session/<id>/stream?follow=false"],
    ["to export one", "GET", "/session/<id>/export"],
    ["to speak in one", "POST", "/session/<id>"],
    ["to end one", "POST", "/session/<id>/reset"],
    ["to read a child of one", "GET", "/session/<id>/subagents/call/ses_child/stream"],
    ["with a query", "DELETE", "/session/<id>?x=1"],
  ];
  test.each(refused)("a valid token %s", async (_, method, path) => {
    const app = await createTestApp({ perform: hanging });
    const sessionId = await app.create("hi");
    const body = method === "POST" ? { message: "x" } : undefined;
    const response = await operate(app, { method, path: path.replace("<id>", sessionId), body });
    expect(response.status).toBe(401);
    expect(await response.json()).toMatchObject({ ok: false, code: "UNAUTHORIZED" });
  });

  test("a token for another session, another route, another store, cut, or none", async () => {
    const app = await createTestApp({ perform: hanging });
    const sessionId = await app.create("hi");
    const other = await app.create("other");
    const target = (id: string) => `${BASE}/session/${id}`;
    const call = { method: "DELETE", target: target(sessionId) };
    const tokens = [
      app.operator.create({ ...call, target: target(other) }),
      app.operator.create({ method: "POST", target: `${call.target}/retry` }),
      app.operator.create({ ...call, target: `/eve/v1/session/${sessionId}` }),
      (await createTestApp({ perform: hanging })).operator.create(call),
      createOperatorTokens("", Date.now).create(call),
      app.operator.create(call).slice(0, -1),
      "eve_operator_",
    ];
    for (const token of tokens) {
      const response = await operate(app, { method: "DELETE", path: `/session/${sessionId}`, token });
      const text = await response.text();
      expect(response.status).toBe(401);
      expect(text).not.toContain(token.slice("eve_operator_".length) || "nothing");
    }
    expect(await app.host.head(sessionId)).toBeDefined();
    expect(app.logged.join()).not.toContain("eve_operator_");
  });

  test("a token that does not hold is refused also where everybody is taken", async () => {
    const app = await createTestApp({ perform: hanging, auth: [byHeader, localDev()] });
    const sessionId = await app.create("hi");
    const token = createOperatorTokens("x".repeat(43)).create({ method: "DELETE", target: "/" });
    const headers = { authorization: `Bearer ${token}`, "x-user": "ada" };
    const response = await app.app.request(`${BASE}/session/${sessionId}`, { method: "DELETE", headers });
    expect(response.status).toBe(401);
  });

  test("a principal of the same name", async () => {
    const named: Authenticator = ({ headers }) =>
      headers.has("x-user")
        ? null
        : { authenticator: "operator", principalId: "operator", principalType: "service", attributes: {} };
    const app = await createTestApp({ perform: hanging, auth: [named, byHeader] });
    const sessionId = await app.create("hi");
    const response = await app.app.request(`${BASE}/session/${sessionId}`, { method: "DELETE" });
    expect(response.status).toBe(404);
    expect((await app.app.request(`${BASE}/session`)).status).toBe(200);
    expect(await (await app.app.request(`${BASE}/session`)).json()).toEqual({ sessions: [] });
  });
});

function isTurnStarted({ type }: { readonly type: string }): boolean {
  return type === "turn.started";
}
