import { describe, expect, test } from "vitest";
import { scriptedModel } from "../../testing/scripted-model.ts";
import { createTestApp, saying } from "../app.fixture.ts";

describe("GET session", () => {
  test("lists the caller's own sessions, newest first, a page at a time", async () => {
    const { create, get, until } = await createTestApp({ perform: saying("ok") });
    const ids: string[] = [];
    for (const message of ["one", "two", "three"]) ids.push(await create(message));
    await create("mine", { as: "mallory" });
    for (const id of ids) await until(id, "session.waiting");
    const first = await (await get("/session?limit=2")).json();
    expect(first.sessions.map(({ sessionId }: { sessionId: string }) => sessionId)).toEqual([ids[2], ids[1]]);
    expect(first.sessions[0]).toEqual({
      sessionId: ids[2],
      agentName: "lead",
      status: "waiting",
      createdAt: expect.stringMatching(/Z$/),
      updatedAt: expect.stringMatching(/Z$/),
      events: 8,
    });
    const second = await (await get(`/session?limit=2&cursor=${encodeURIComponent(first.cursor)}`)).json();
    expect(second.sessions.map(({ sessionId }: { sessionId: string }) => sessionId)).toEqual([ids[0]]);
    expect(second.cursor).toBeUndefined();
  });

  test.each(["limit=0", "limit=101", "limit=x", "cursor=nonsense"])(
    "%s is a bad request that names the field",
    async (query) => {
      const { get } = await createTestApp();
      const response = await get(`/session?${query}`);
      expect([response.status, (await response.json()).error]).toEqual([
        400,
        expect.stringContaining(query.split("=")[0]!),
      ]);
    },
  );
});

describe("GET session/:id/export", () => {
  test("holds the events of the session and of those below it", async () => {
    const model = scriptedModel([{ calls: [{ name: "helper", input: { message: "help" } }] }, { text: "helped" }]);
    const { create, get, until, events, host } = await createTestApp({ model });
    const sessionId = await create("go");
    await until(sessionId, "session.waiting");
    const [child] = await host.descendants(sessionId);
    const response = await get(`/session/${sessionId}/export`);
    expect(response.headers.get("content-type")).toBe("application/x-ndjson; charset=utf-8");
    const lines = (await response.text())
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line));
    const heads = lines.filter((line) => "$export" in line).map((line) => line.$export);
    expect(heads).toMatchObject([
      { version: 1, sessionId },
      { version: 1, sessionId: child, parentSessionId: sessionId },
    ]);
    const own = await events(sessionId);
    expect(lines.slice(1, own.length + 1)).toEqual(own);
    expect(lines.slice(own.length + 2)).toEqual(await events(child!));
  });
});

describe("DELETE session/:id", () => {
  test("ends and deletes a session with those below it, and nobody knows them any more", async () => {
    const model = scriptedModel([{ calls: [{ name: "helper", input: { message: "help" } }] }, { text: "helped" }]);
    const { app, create, get, post, until, host } = await createTestApp({ model });
    const sessionId = await create("go");
    await until(sessionId, "session.waiting");
    const [child] = await host.descendants(sessionId);
    const remove = (id: string, as = "ada") =>
      app.request(`/eve/lead/v1/session/${id}`, { method: "DELETE", headers: { "x-user": as } });
    expect((await remove(sessionId, "mallory")).status).toBe(404);
    expect((await remove(child!)).status).toBe(400);
    const removed = await remove(sessionId);
    expect([removed.status, await removed.json()]).toEqual([200, { status: "deleted" }]);
    for (const id of [sessionId, child!]) {
      expect((await get(`/session/${id}/stream`)).status).toBe(404);
      expect((await (await post(`/session/${id}`, { message: "x" })).json()).code).toBe("session_not_active");
    }
    expect((await (await get("/session")).json()).sessions).toEqual([]);
    expect((await remove(sessionId)).status).toBe(404);
  });
});

describe("POST session/:id/fork", () => {
  test("goes on with what was said up to an event, and leaves the other session as it was", async () => {
    const model = scriptedModel([
      { text: "one" },
      { text: "two" },
      {
        text: "three",
        expect: ({ prompt }) => {
          const text = JSON.stringify(prompt);
          expect(text).toContain("first");
          expect(text).toContain("one");
          expect(text).not.toContain("second");
        },
      },
    ]);
    const { create, post, until, events } = await createTestApp({ model });
    const sessionId = await create("first");
    const at = (await until(sessionId, "session.waiting")).length - 1;
    await post(`/session/${sessionId}`, { message: "second" });
    const before = await until(sessionId, "session.waiting", 2);
    const response = await post(`/session/${sessionId}/fork`, { at });
    expect(response.status).toBe(202);
    const fork = (await response.json()).sessionId;
    expect(response.headers.get("x-eve-session-id")).toBe(fork);
    await post(`/session/${fork}`, { message: "other" });
    const seen = await until(fork, "session.waiting");
    expect(seen[0]).toMatchObject({ type: "session.started", data: { predecessor: { sessionId, index: at } } });
    expect(await events(sessionId)).toEqual(before);
    model.assertConsumed();
  });

  test("an event that is not there, a session that is not the caller's, and the same operation twice", async () => {
    const { create, post, until } = await createTestApp({ perform: saying("ok") });
    const sessionId = await create("first");
    await until(sessionId, "session.waiting");
    const wrong = await post(`/session/${sessionId}/fork`, { at: 99 });
    expect([wrong.status, (await wrong.json()).error]).toEqual([400, expect.stringContaining("events 0 to 7, not 99")]);
    expect((await post(`/session/${sessionId}/fork`, {}, { as: "mallory" })).status).toBe(404);
    const ids = await Promise.all(
      [1, 2].map(async () => (await (await post(`/session/${sessionId}/fork`, { operationId: "f" })).json()).sessionId),
    );
    expect(ids[0]).toBe(ids[1]);
    expect((await post(`/session/${sessionId}/fork`, { operationId: "f", at: 3 })).status).toBe(409);
  });
});
