import { expect, test } from "vitest";
import { message, opening, reply, responded, waiting } from "./perform.fixture.ts";
import { all, replies, until } from "./read-events.fixture.ts";
import type { Suite } from "./world.fixture.ts";

const DAY_MS = 86_400_000;
const ok = reply(() => "ok");

/** A session whose deadline has come is told so, by whichever process is there. */
export function testTimers({ newWorld, open, crash }: Suite): void {
  test("timers: a session ends when its time is up, not before", async () => {
    const world = await newWorld();
    const host = await open(world, ok, { sessionTimeoutMs: 1_000 });
    const { sessionId } = await host.open({ input: opening("hi") });
    await replies(host, sessionId, 1);
    await world.pass(999);
    expect(await host.deliver(sessionId, "d1", message("d1", "still there?"))).toBe("accepted");
    await replies(host, sessionId, 2);
    await world.pass(1);
    const events = await until(host, sessionId, "session.completed");
    expect(events.at(-1)?.data).toMatchObject({ reason: "timeout" });
    expect(await host.deliver(sessionId, "d2", message("d2", "hi"))).toBe("ended");
  });

  test("timers: one that is months away rings then, and not at once", async () => {
    const world = await newWorld();
    const host = await open(world, ok, { sessionTimeoutMs: 90 * DAY_MS });
    const { sessionId } = await host.open({ input: opening("hi") });
    await replies(host, sessionId, 1);
    await world.pass(89 * DAY_MS);
    expect((await host.head(sessionId))?.ended).toBe(false);
    await world.pass(DAY_MS);
    await until(host, sessionId, "session.completed");
  });

  test("timers: the earliest of many rings first", async () => {
    const world = await newWorld();
    const host = await open(world, ok, { sessionTimeoutMs: 1_000 });
    const late = await host.open({ input: opening("hi") });
    await replies(host, late.sessionId, 1);
    await crash(world, host);
    const other = await open(world, ok, { sessionTimeoutMs: 100 });
    const early = await other.open({ input: opening("hi") });
    await replies(other, early.sessionId, 1);
    await world.pass(100);
    await until(other, early.sessionId, "session.completed");
    expect((await other.head(late.sessionId))?.ended).toBe(false);
    await world.pass(900);
    await until(other, late.sessionId, "session.completed");
  });

  test("timers: a time that comes while nobody is there is told at the start", async () => {
    const world = await newWorld();
    const before = await open(world, ok, { sessionTimeoutMs: 1_000 });
    const opened = await Promise.all([1, 2, 3].map(() => before.open({ input: opening("hi") })));
    for (const { sessionId } of opened) await replies(before, sessionId, 1);
    await crash(world, before);
    await world.pass(5_000);
    const after = await open(world, ok);
    for (const { sessionId } of opened) await until(after, sessionId, "session.completed");
  });

  test.each(["there", "gone"])(
    "timers: a turn that waits is told when its time is up, by a host that was %s",
    async (host) => {
      const world = await newWorld();
      const before = await open(world, waiting(1_000), { sessionTimeoutMs: 90 * DAY_MS });
      const { sessionId } = await before.open({ input: opening("go") });
      await until(before, sessionId, "agent.started");
      await world.pass(999);
      expect((await all(before, sessionId)).filter(({ type }) => type === "step.started")).toHaveLength(1);
      if (host === "gone") await crash(world, before);
      await world.pass(1);
      const after = host === "gone" ? await open(world, waiting(1_000)) : before;
      const events = await until(after, sessionId, "session.waiting");
      const outputs = events.flatMap((event) => (event.type === "action.result" ? [event.data.result.output] : []));
      expect(outputs).toEqual([
        expect.stringContaining("at work"),
        expect.stringContaining("The time is up"),
        expect.stringContaining("was stopped"),
      ]);
      // The session's own time counts again.
      await world.pass(90 * DAY_MS);
      await until(after, sessionId, "session.completed");
    },
  );

  test("timers: a turn under way is not cut short, and the session ends with it", async () => {
    const world = await newWorld();
    const release = Promise.withResolvers<void>();
    const host = await open(
      world,
      async () => {
        await release.promise;
        return responded("done");
      },
      { sessionTimeoutMs: 1_000 },
    );
    const { sessionId } = await host.open({ input: opening("hi") });
    await until(host, sessionId, "step.started");
    await world.pass(10_000);
    expect((await all(host, sessionId)).at(-1)?.type).toBe("step.started");
    release.resolve();
    const events = await until(host, sessionId, "session.completed");
    expect(events.slice(-3).map(({ type }) => type)).toEqual([
      "turn.completed",
      "session.waiting",
      "session.completed",
    ]);
  });

  test("timers: what was accepted before the time came is done first, also when that takes a second try", async () => {
    const world = await newWorld();
    const failed = Promise.withResolvers<void>();
    let tries: "none yet" | "first" | "later" = "later";
    const host = await open(world, ok, {
      sessionTimeoutMs: 1_000,
      fault: (point) => {
        if (point === "commit:after" && tries === "none yet") tries = "first";
        else if (point === "commit:before" && tries === "first") {
          tries = "later";
          failed.resolve();
          throw new Error("Not now.");
        }
      },
    });
    const { sessionId } = await host.open({ input: opening(undefined) });
    await host.state(sessionId);
    tries = "none yet";
    expect(await host.deliver(sessionId, "d1", message("d1", "hi"))).toBe("accepted");
    await failed.promise;
    await world.pass(1_000);
    const events = await until(host, sessionId, "session.completed");
    expect(events.map(({ type }) => type)).toContain("turn.completed");
  });
}
