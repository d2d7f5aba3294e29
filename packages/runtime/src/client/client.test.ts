import { describe, expect, test } from "vitest";
import { createTestApp, hanging, saying, type TestAppOptions } from "../http/app.fixture.ts";
import { serveApp } from "../http/serve-app.fixture.ts";
import { collect } from "./collect.fixture.ts";
import { Client, type MessageStreamEvent } from "./index.ts";

const ADA = { "x-user": "ada" };

/** A client of a real member, in this process. */
async function connect(options: TestAppOptions = { perform: saying("Hello.") }) {
  const app = await createTestApp(options);
  const host = (await serveApp(app)).replace(/\/v1$/, "");
  return { ...app, host, client: new Client({ host, headers: ADA, reconnectDelayMs: 1 }) };
}

const typesOf = (events: readonly MessageStreamEvent[]): string[] => events.map(({ type }) => type);

const PLAIN_TURN = [
  "turn.started",
  "message.received",
  "step.started",
  "message.completed",
  "step.completed",
  "turn.completed",
  "session.waiting",
];

describe("a member", () => {
  test("says that it is there and what it is", async () => {
    const { client, host } = await connect();
    expect(await client.health()).toEqual({ ok: true, status: "ready", workflowId: "lead@test-build" });
    const info = await client.info();
    expect(info.agents.map(({ name }) => name)).toEqual(["lead", "helper"]);
    await expect(new Client({ host }).info()).rejects.toMatchObject({ status: 401, code: "UNAUTHORIZED" });
  });

  test("answers a first message and the next, each with its own turn", async () => {
    const { client, events } = await connect();
    const { session, response } = await client.sessions.create({ message: "hello" });
    const first = await response.result();
    expect(typesOf(first.events)).toEqual(["session.started", ...PLAIN_TURN]);
    expect(first).toMatchObject({ status: "waiting", message: "Hello.", turnId: "turn_0" });
    const second = await (await session.send("again")).result();
    expect(typesOf(second.events)).toEqual(PLAIN_TURN);
    expect([...first.events, ...second.events]).toEqual(await events(session.state.sessionId));
    expect(session.state.streamIndex).toBe(first.events.length + second.events.length);
  });

  test("opens a session that waits", async () => {
    const { client } = await connect();
    const { session } = await client.sessions.create();
    expect((await session.snapshot()).events).toEqual([]);
    expect(typesOf((await (await session.send("hello")).result()).events)).toEqual(["session.started", ...PLAIN_TURN]);
  });

  test("is asked by several at once: each gets the turn that reads its message", async () => {
    const { client } = await connect();
    const { session, response } = await client.sessions.create({ message: "0" });
    const later = await Promise.all(["1", "2", "3"].map((text) => session.send(text, { turnPolicy: "queue" })));
    const results = await Promise.all([response, ...later].map((each) => each.result()));
    for (const [index, { events, turnId }] of results.entries()) {
      const read = events.filter((event) => event.type === "message.received");
      expect(read.map(({ data }) => data.message)).toContain(String(index));
      expect(events.flatMap(({ data }) => ("turnId" in data ? data.turnId : [])).every((id) => id === turnId)).toBe(
        true,
      );
    }
  });

  test("stops the turn of a response, and no other", async () => {
    const { client, until } = await connect({ perform: hanging });
    const { session, response } = await client.sessions.create({ message: "hello" });
    expect(await response.cancel()).toEqual({ status: "accepted", sessionId: session.state.sessionId });
    const result = await response.result();
    expect(typesOf(result.events).slice(-2)).toEqual(["turn.cancelled", "session.waiting"]);
    expect(await response.cancel()).toMatchObject({ status: "no_active_turn" });
    const next = await session.send("next");
    await until(session.state.sessionId, "turn.started", 2);
    expect(await response.cancel()).toMatchObject({ status: "no_active_turn" });
    expect(await session.cancel()).toMatchObject({ status: "accepted" });
    expect((await next.result()).turnId).toBe("turn_1");
  });

  test("ends a session, whose stream then ends, and takes no message", async () => {
    const { client } = await connect();
    const { session, response } = await client.sessions.create({ message: "hello" });
    await response.result();
    const { sessionId } = session.state;
    const rest = collect(session.stream());
    expect(await session.reset({ reason: "done" })).toMatchObject({ status: "reset", previousSessionId: sessionId });
    expect(typesOf(await rest)).toEqual(["session.completed"]);
    expect(await collect(session.stream())).toEqual([]);
    await expect(session.send("more")).rejects.toMatchObject({ status: 409, code: "session_not_active" });
    expect(await session.reset()).toMatchObject({ status: "no_active_session" });
  });

  test("refuses the session of somebody else, and one that is not there, for good", async () => {
    const { client, host } = await connect();
    const { session } = await client.sessions.create({ message: "hello" });
    const bob = new Client({ host, headers: { "x-user": "bob" } }).sessions;
    for (const id of [session.state.sessionId, "ses_unknown"]) {
      await expect(collect(bob.attach(id).stream())).rejects.toMatchObject({ status: 404, code: "NOT_FOUND" });
    }
  });

  test("leases its streams: the client comes back where it was", async () => {
    const { client, events } = await connect({ perform: saying("Hello."), leaseMs: 30 });
    const { session } = await client.sessions.create({ message: "0" });
    const read: MessageStreamEvent[] = [];
    for await (const event of session.stream()) {
      read.push(event);
      const turns = read.filter(({ type }) => type === "session.waiting").length;
      if (event.type !== "session.waiting") continue;
      if (turns < 5) await session.send(String(turns));
      else await session.reset();
    }
    expect(read).toEqual(await events(session.state.sessionId));
  });

  test("says once more what became of a request with the same operation id", async () => {
    const { client } = await connect();
    const create = () => client.sessions.create({ message: "hello", operationId: "o" });
    const [first, second] = [await create(), await create()];
    expect(second.session.state.sessionId).toBe(first.session.state.sessionId);
    const [one, other] = await Promise.all([first.response.result(), second.response.result()]);
    expect(other.events).toEqual(one.events);
  });
});
