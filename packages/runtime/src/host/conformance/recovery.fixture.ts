import { expect, test } from "vitest";
import type { Perform } from "../../engine/ports.ts";
import { calling, delegating, message, opening, reply, responded } from "./perform.fixture.ts";
import { all, replies, until } from "./read-events.fixture.ts";
import type { Suite } from "./world.fixture.ts";

const ok = reply(() => "ok");
const never: Perform = () => new Promise(() => {});

/** A process dies, the next one goes on where it was. */
export function testRecovery({ newWorld, open, crash }: Suite): void {
  test("recovery: what was accepted is done after a crash, also when it was never begun", async () => {
    const world = await newWorld();
    const before = await open(world, never);
    const { sessionId } = await before.open({ input: opening("first") });
    await until(before, sessionId, "step.started");
    await before.deliver(sessionId, "d1", message("d1", "second", "queue"));
    await crash(world, before);
    const after = await open(world, ok);
    expect(await replies(after, sessionId, 2)).toEqual(["ok", "ok"]);
  });

  test("recovery: an effect whose result was committed is not run again, one that was not is", async () => {
    const world = await newWorld();
    const runs: string[] = [];
    let interruptions = 0;
    const perform =
      (hang: boolean): Perform =>
      async (effect, context) => {
        runs.push(effect.id);
        if (effect.kind === "tool") {
          if (context.interrupted) interruptions++;
          if (hang && effect.call.callId === "slow") return new Promise(() => {});
          return { kind: "tool.settled", callId: effect.call.callId, status: "completed", output: 1 };
        }
        return context.state.turn!.stepIndex === 0 ? calling(["quick", "slow"]) : responded("done");
      };
    const before = await open(world, perform(true));
    const { sessionId } = await before.open({ input: opening("hi") });
    const read = await until(before, sessionId, "action.result");
    await crash(world, before);
    const after = await open(world, perform(false));
    const events = await until(after, sessionId, "session.waiting");
    expect(events.slice(0, read.length)).toEqual(read);
    expect(runs.filter((id) => id.endsWith(":quick"))).toHaveLength(1);
    expect(runs.filter((id) => id.endsWith(":slow"))).toHaveLength(2);
    expect(interruptions).toBe(1);
    expect(new Set(events.map(({ meta }) => meta.id)).size).toBe(events.length);
  });

  test("recovery: a model call that a crash stopped is announced as another attempt", async () => {
    const world = await newWorld();
    const before = await open(world, never);
    const { sessionId } = await before.open({ input: opening("hi") });
    await until(before, sessionId, "step.started");
    await crash(world, before);
    const after = await open(world, ok);
    const events = await until(after, sessionId, "session.waiting");
    const steps = events.filter((event) => event.type === "step.started");
    expect(steps.map(({ data }) => [data.stepIndex, data.attempt])).toEqual([
      [0, 1],
      [0, 2],
    ]);
  });

  test("recovery: a child and its parent go on where they were", async () => {
    const world = await newWorld();
    const before = await open(world, delegating({ hangInChild: true }));
    const { sessionId } = await before.open({ input: opening("go") });
    await until(before, sessionId, "turn.waiting");
    await crash(world, before);
    const after = await open(world, delegating());
    const events = await until(after, sessionId, "session.waiting");
    expect(events.filter(({ type }) => type === "agent.started")).toHaveLength(1);
    expect(events.filter(({ type }) => type === "task.settled")).toHaveLength(1);
  });

  test("recovery: parked sessions start nothing", async () => {
    const world = await newWorld();
    const before = await open(world, ok);
    const { sessionId } = await before.open({ input: opening("hi") });
    await replies(before, sessionId, 1);
    await crash(world, before);
    let runs = 0;
    const after = await open(world, async () => {
      runs++;
      return responded("again");
    });
    expect(await replies(after, sessionId, 1)).toEqual(["ok"]);
    expect(runs).toBe(0);
  });

  test("recovery: hundreds of sessions go on, and a new one does not wait for them", async () => {
    const world = await newWorld();
    const before = await open(world, never);
    const opened = await Promise.all(Array.from({ length: 200 }, () => before.open({ input: opening("hi") })));
    for (const { sessionId } of opened) await until(before, sessionId, "step.started");
    await crash(world, before);
    const order: string[] = [];
    const after = await open(world, async (_effect, { state }) => {
      order.push(state.sessionId);
      return responded("ok");
    });
    const fresh = await after.open({ input: opening("new") });
    await replies(after, fresh.sessionId, 1);
    const waited = order.indexOf(fresh.sessionId);
    for (const { sessionId } of opened) expect(await replies(after, sessionId, 1)).toEqual(["ok"]);
    expect(order).toHaveLength(201);
    expect(waited).toBeLessThan(100);
  });

  test("fence: a host whose version of a session is stale writes nothing to it", async () => {
    const world = await newWorld();
    const release = Promise.withResolvers<void>();
    const stale = await open(world, async () => {
      await release.promise;
      return responded("from the stale one");
    });
    const { sessionId } = await stale.open({ input: opening("hi") });
    await until(stale, sessionId, "step.started");
    const current = await open(
      world,
      reply(() => "from the current one"),
    );
    const events = await until(current, sessionId, "session.waiting");
    release.resolve();
    // What it would have written stands behind what it reads when it has found out.
    expect((await stale.state(sessionId))?.turn?.turnId).toBe("turn_0");
    await current.deliver(sessionId, "d1", message("d1", "more"));
    expect(await replies(current, sessionId, 2)).toEqual(["from the current one", "from the current one"]);
    expect((await all(current, sessionId)).slice(0, events.length)).toEqual(events);
  });
}
