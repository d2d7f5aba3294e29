import { expect, test } from "vitest";
import { callingRemote, delegating, message, opening, reply } from "./perform.fixture.ts";
import { idle } from "./outbox.fixture.ts";
import { all, replies, until } from "./read-events.fixture.ts";
import type { Suite } from "./world.fixture.ts";

const DAY_MS = 86_400_000;
const KEPT = { retentionMs: 30 * DAY_MS } as const;
const ok = reply(() => "ok");

/** What has ended can be read for a time, then it is gone, and that it was there is known. */
export function testRetention({ newWorld, open, crash }: Suite): void {
  test("sweep: an ended session is readable for its time, then nothing of it is, but whose it was", async () => {
    const world = await newWorld();
    const host = await open(world, ok, KEPT);
    const { sessionId } = await host.open({ operationKey: "op", input: opening("hi") });
    await replies(host, sessionId, 1);
    await host.deliver(sessionId, "end", { kind: "reset" });
    const events = await until(host, sessionId, "session.completed");
    await world.pass(30 * DAY_MS - 1);
    expect(await all(host, sessionId)).toEqual(events);
    await world.pass(1);
    await idle(async () => (await host.head(sessionId))?.swept === true);
    expect(await host.head(sessionId)).toMatchObject({ sessionId, ended: true, owner: { principalId: "alice" } });
    expect(await all(host, sessionId)).toEqual([]);
    expect(await host.state(sessionId)).toBeUndefined();
    expect(await host.stateAt(sessionId, 0)).toBeUndefined();
    expect(await host.deliver(sessionId, "d1", message("d1", "hi"))).toBe("ended");
    expect((await host.list({ limit: 10 })).sessions).toEqual([]);
  });

  test("sweep: one that has not ended stays, however old", async () => {
    const world = await newWorld();
    const host = await open(world, ok, KEPT);
    const { sessionId } = await host.open({ input: opening("hi") });
    await replies(host, sessionId, 1);
    await world.pass(400 * DAY_MS);
    expect((await host.head(sessionId))?.swept).toBeUndefined();
    await host.deliver(sessionId, "d1", message("d1", "still there?"));
    expect(await replies(host, sessionId, 2)).toEqual(["ok", "ok"]);
  });

  test("sweep: a child goes with its root, not before", async () => {
    const world = await newWorld();
    const host = await open(world, delegating(), KEPT);
    const { sessionId } = await host.open({ input: opening("go") });
    await until(host, sessionId, "session.waiting");
    const [child] = await host.descendants(sessionId);
    await host.deliver(child!, "end", { kind: "reset" });
    await until(host, child!, "session.completed");
    await world.pass(40 * DAY_MS);
    expect((await all(host, child!)).length).toBeGreaterThan(0);
    await host.deliver(sessionId, "end", { kind: "reset" });
    await until(host, sessionId, "session.completed");
    await world.pass(30 * DAY_MS);
    for (const id of [sessionId, child!]) await idle(async () => (await host.head(id))?.swept === true);
    expect(await all(host, child!)).toEqual([]);
  });

  test("sweep: not while what the end sends to others is under way", async () => {
    const requests: string[] = [];
    const world = await newWorld();
    let away = true;
    const before = await open(
      world,
      callingRemote(requests, () => away),
      KEPT,
    );
    const { sessionId } = await before.open({ input: opening("go") });
    await until(before, sessionId, "agent.started");
    await before.deliver(sessionId, "end", { kind: "reset" });
    await until(before, sessionId, "session.completed");
    await world.pass(40 * DAY_MS);
    expect((await before.head(sessionId))?.swept).toBeUndefined();
    await crash(world, before);
    away = false;
    const after = await open(
      world,
      callingRemote(requests, () => away),
      KEPT,
    );
    // It may be swept as soon as that is done.
    await idle(async () => {
      await world.pass(DAY_MS);
      return (await after.head(sessionId))?.swept === true;
    });
    expect(requests).toEqual(expect.arrayContaining(["cancel", "reset"]));
  });

  test("sweep: what ended while nobody was there is swept at the start", async () => {
    const world = await newWorld();
    const before = await open(world, ok, KEPT);
    const { sessionId } = await before.open({ input: opening(undefined) });
    await before.deliver(sessionId, "end", { kind: "reset" });
    await until(before, sessionId, "session.completed");
    await crash(world, before);
    await world.pass(31 * DAY_MS);
    const after = await open(world, ok, KEPT);
    await idle(async () => (await after.head(sessionId))?.swept === true);
  });
}
