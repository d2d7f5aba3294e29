import { expect, test } from "vitest";
import type { Host } from "../../engine/ports.ts";
import { ALICE, BOB, delegating, message, opening, reply, responded, working } from "./perform.fixture.ts";
import { all, replies, until } from "./read-events.fixture.ts";
import type { Suite } from "./world.fixture.ts";

const ok = reply(() => "ok");

/** What can be known of sessions without reading them, and of the past of one. */
export function testLists({ newWorld, open }: Suite): void {
  test("head: says what a session is and does", async () => {
    const world = await newWorld();
    const release = Promise.withResolvers<void>();
    const host = await open(world, async () => {
      await release.promise;
      return responded("ok");
    });
    const { sessionId } = await host.open({ input: opening("hi") });
    const createdAt = world.now();
    await until(host, sessionId, "step.started");
    expect(await host.head(sessionId)).toMatchObject({ status: "working", agentName: "test", createdAt });
    await world.pass(50);
    release.resolve();
    await replies(host, sessionId, 1);
    expect(await host.head(sessionId)).toMatchObject({ status: "waiting", createdAt, updatedAt: createdAt + 50 });
    await world.pass(50);
    await host.deliver(sessionId, "end", { kind: "reset" });
    expect((await host.head(sessionId))?.status).not.toBe("waiting");
    await until(host, sessionId, "session.completed");
    expect(await host.head(sessionId)).toMatchObject({ status: "ended", ended: true, endedAt: createdAt + 100 });
  });

  test("head: a session that waits for its child works", async () => {
    const host = await open(await newWorld(), delegating({ hangInChild: true }));
    const { sessionId } = await host.open({ input: opening("go") });
    await until(host, sessionId, "turn.waiting");
    expect((await host.head(sessionId))?.status).toBe("working");
  });

  test("list: newest first, page by page, without children, whatever is opened meanwhile", async () => {
    const host = await open(await newWorld(), working());
    const ids: string[] = [];
    for (let i = 0; i < 5; i++) {
      const { sessionId } = await host.open({ input: opening("go") });
      await until(host, sessionId, "session.waiting");
      ids.unshift(sessionId);
    }
    const first = await host.list({ limit: 2 });
    await host.open({ input: opening("go") });
    const second = await host.list({ limit: 2, cursor: first.cursor! });
    const third = await host.list({ limit: 2, cursor: second.cursor! });
    const pages = [first, second, third].flatMap(({ sessions }) => sessions.map(({ sessionId }) => sessionId));
    expect(pages).toEqual(ids);
    expect(third.cursor).toBeUndefined();
    expect(first.sessions[0]).toEqual(await host.head(ids[0]!));
  });

  test("list: of one owner only, whatever is known of them", async () => {
    const host = await open(await newWorld(), ok);
    const mine = await host.open({ input: opening(undefined, { ...ALICE, attributes: { name: "Alice A." } }) });
    const theirs = await host.open({ input: opening(undefined, BOB) });
    expect(await idsOf(host, ALICE)).toEqual([mine.sessionId]);
    expect(await idsOf(host, BOB)).toEqual([theirs.sessionId]);
    expect(await idsOf(host, { ...ALICE, authenticator: "other" })).toEqual([]);
    expect(await idsOf(host)).toEqual([theirs.sessionId, mine.sessionId]);
  });

  test.each(["x", "-1", "1.5", "", "9".repeat(30)])("list: the cursor %j is refused", async (cursor) => {
    const host = await open(await newWorld(), ok);
    await expect(host.list({ limit: 1, cursor })).rejects.toMatchObject({ code: "BAD_REQUEST" });
  });

  test("stateAt: the state right after every event", async () => {
    const host = await open(await newWorld(), working());
    const { sessionId } = await host.open({ input: opening("go") });
    await until(host, sessionId, "session.waiting");
    await host.deliver(sessionId, "d1", message("d1", "again"));
    await replies(host, sessionId, 2);
    const events = await all(host, sessionId);
    let turns = 0;
    let tasks = 0;
    for (const [index, { type }] of events.entries()) {
      if (type === "turn.started") turns++;
      if (type === "task.started") tasks++;
      const state = await host.stateAt(sessionId, index);
      expect([state?.nextSequence, Object.keys(state?.tasks ?? {}).length]).toEqual([turns, tasks]);
    }
    expect(await host.stateAt(sessionId, events.length - 1)).toEqual(await host.state(sessionId));
    expect(await host.stateAt(sessionId, events.length)).toBeUndefined();
    expect(await host.stateAt(sessionId, -1)).toBeUndefined();
  });
}

async function idsOf(
  host: Host,
  owner?: typeof ALICE | { readonly [K in keyof typeof ALICE]: unknown },
): Promise<string[]> {
  const { sessions } = await host.list({ limit: 10, ...(owner === undefined ? {} : { owner: owner as typeof ALICE }) });
  return sessions.map(({ sessionId }) => sessionId);
}
