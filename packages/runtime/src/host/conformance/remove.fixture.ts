import { expect, test } from "vitest";
import type { Host } from "../../engine/ports.ts";
import { callingRemote, delegating, message, opening, reply } from "./perform.fixture.ts";
import { idle } from "./outbox.fixture.ts";
import { all, replies, until } from "./read-events.fixture.ts";
import type { Suite } from "./world.fixture.ts";

const ok = reply(() => "ok");

/** A session that is removed is unknown to everybody from then on, and its descendants with it. */
export function testRemoval({ newWorld, open, crash }: Suite): void {
  test("remove: nobody knows the session any more, and its operation opens another one", async () => {
    const host = await open(await newWorld(), ok);
    const { sessionId } = await host.open({ operationKey: "op", input: opening("hi") });
    await replies(host, sessionId, 1);
    let told = 0;
    host.subscribe(sessionId, () => told++);
    expect(await host.remove(sessionId)).toBe("removed");
    expect(told).toBeGreaterThan(0);
    await expectUnknown(host, sessionId);
    expect(await host.remove(sessionId)).toBe("unknown");
    expect(await host.remove("ses_unknown")).toBe("unknown");
    const again = await host.open({ operationKey: "op", input: opening("hi") });
    expect(again).toMatchObject({ created: true, conflict: false });
    expect(again.sessionId).not.toBe(sessionId);
  });

  test("remove: what works for it is aborted, its descendants go too", async () => {
    let aborted = 0;
    const host = await open(await newWorld(), async (effect, context) => {
      if (context.state.origin.kind !== "local") return delegating()(effect, context);
      return new Promise((resolve) =>
        context.signal.addEventListener("abort", () => {
          aborted++;
          resolve(undefined);
        }),
      );
    });
    const { sessionId } = await host.open({ input: opening("go") });
    await until(host, sessionId, "turn.waiting");
    const [child] = await host.descendants(sessionId);
    expect(await host.remove(child!)).toBe("child");
    expect(await host.remove(sessionId)).toBe("removed");
    await expectUnknown(host, sessionId);
    await expectUnknown(host, child!);
    expect(await host.descendants(sessionId)).toEqual([]);
    await idle(async () => aborted === 1);
  });

  test("remove: a remote child is asked to end, also when a crash comes between", async () => {
    const requests: string[] = [];
    const world = await newWorld();
    const before = await open(
      world,
      callingRemote(requests, () => true),
    );
    const { sessionId } = await before.open({ input: opening("go") });
    await until(before, sessionId, "agent.started");
    expect(await before.remove(sessionId)).toBe("removed");
    await idle(async () => requests.includes("reset"));
    await crash(world, before);
    const after = await open(world, callingRemote(requests));
    await expectUnknown(after, sessionId);
    await idle(async () => requests.filter((kind) => kind === "reset").length === 2);
    await expectUnknown(after, sessionId);
  });

  test("remove: an ended and a swept session can be removed", async () => {
    const world = await newWorld();
    const host = await open(world, ok, { retentionMs: 1_000 });
    for (const ms of [0, 1_000]) {
      const { sessionId } = await host.open({ input: opening("hi") });
      await replies(host, sessionId, 1);
      await host.deliver(sessionId, "end", { kind: "reset" });
      await until(host, sessionId, "session.completed");
      await world.pass(ms);
      await idle(async () => ((await host.head(sessionId))?.swept === true) === ms > 0);
      expect(await host.remove(sessionId)).toBe("removed");
      await expectUnknown(host, sessionId);
    }
  });

  test("remove: others stay as they are", async () => {
    const host = await open(await newWorld(), ok);
    const kept = await host.open({ input: opening("hi") });
    const gone = await host.open({ input: opening("hi") });
    const events = await until(host, kept.sessionId, "session.waiting");
    await host.remove(gone.sessionId);
    expect(await all(host, kept.sessionId)).toEqual(events);
    await host.deliver(kept.sessionId, "d1", message("d1", "more"));
    expect(await replies(host, kept.sessionId, 2)).toEqual(["ok", "ok"]);
    const fresh = await host.open({ input: opening("hi") });
    expect((await replies(host, fresh.sessionId, 1)).length).toBe(1);
    expect(await host.descendants(fresh.sessionId)).toEqual([]);
  });
}

async function expectUnknown(host: Host, sessionId: string): Promise<void> {
  expect(await host.head(sessionId)).toBeUndefined();
  expect(await host.state(sessionId)).toBeUndefined();
  expect(await host.stateAt(sessionId, 0)).toBeUndefined();
  expect(await host.events(sessionId, 0, 100)).toEqual([]);
  expect(await host.deliver(sessionId, "later", message("later", "hi"))).toBe("unknown");
  expect(await host.delivered(sessionId, "first")).toBe(false);
  const { sessions } = await host.list({ limit: 100 });
  expect(sessions.map((head) => head.sessionId)).not.toContain(sessionId);
}
