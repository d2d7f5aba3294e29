import { expect, test } from "vitest";
import { message, opening, reply } from "./perform.fixture.ts";
import { all, replies, until } from "./read-events.fixture.ts";
import type { Suite } from "./world.fixture.ts";

const ok = reply(() => "ok");

/** What is accepted becomes a turn: once, in order, or not at all. */
export function testDeliveries({ newWorld, open, crash }: Suite): void {
  test("deliver: a message becomes a turn, its events get dense indexes", async () => {
    const host = await open(
      await newWorld(),
      reply(() => "hello"),
    );
    const { sessionId } = await host.open({ input: opening("hi") });
    const events = await until(host, sessionId, "session.waiting");
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
    const stored = await host.events(sessionId, 0, 100);
    expect(stored.map(({ index }) => index)).toEqual(events.map((_, index) => index));
    expect(new Set(events.map(({ meta }) => meta.id)).size).toBe(events.length);
    expect((await host.head(sessionId))?.nextIndex).toBe(events.length);
  });

  test("deliver: a session opened without a message waits for one", async () => {
    const host = await open(
      await newWorld(),
      reply(() => "hello"),
    );
    const { sessionId } = await host.open({ input: opening(undefined) });
    expect(await host.deliver(sessionId, "d1", message("d1", "hi"))).toBe("accepted");
    expect(await replies(host, sessionId, 1)).toEqual(["hello"]);
  });

  test("deliver: unknown and ended sessions refuse", async () => {
    const host = await open(await newWorld(), ok);
    expect(await host.deliver("ses_unknown", "d1", message("d1", "hi"))).toBe("unknown");
    expect(await host.head("ses_unknown")).toBeUndefined();
    expect(await host.state("ses_unknown")).toBeUndefined();
    expect(await host.stateAt("ses_unknown", 0)).toBeUndefined();
    expect(await host.events("ses_unknown", 0, 10)).toEqual([]);
    const { sessionId } = await host.open({ input: opening(undefined) });
    await host.deliver(sessionId, "end", { kind: "reset" });
    await until(host, sessionId, "session.completed");
    expect(await host.deliver(sessionId, "d1", message("d1", "hi"))).toBe("ended");
    expect((await host.head(sessionId))?.ended).toBe(true);
  });

  test("order: messages are read in the order in which they were accepted", async () => {
    const host = await open(await newWorld(), ok);
    const { sessionId } = await host.open({ input: opening(undefined) });
    const ids = Array.from({ length: 20 }, (_, index) => `d${index}`);
    await Promise.all(ids.map((id) => host.deliver(sessionId, id, message(id, id, "queue"))));
    await replies(host, sessionId, ids.length);
    const received = (await all(host, sessionId)).filter(({ type }) => type === "message.received");
    expect(received.map((event) => event.type === "message.received" && event.data.message)).toEqual(ids);
  });

  test("dedupe: the same id or operation with another digest is a conflict and does nothing", async () => {
    const host = await open(await newWorld(), ok);
    const first = await host.open({ operationKey: "op", digest: "a", input: opening(undefined) });
    const other = await host.open({ operationKey: "op", digest: "b", input: opening("hi") });
    expect(other).toEqual({ sessionId: first.sessionId, created: false, conflict: true });
    expect(await host.deliver(first.sessionId, "d1", message("d1", "one"), "a")).toBe("accepted");
    expect(await host.deliver(first.sessionId, "d1", message("d1", "two"), "b")).toBe("conflict");
    expect(await host.deliver(first.sessionId, "d1", message("d1", "one"), "a")).toBe("duplicate");
    expect(await replies(host, first.sessionId, 1)).toEqual(["ok"]);
  });

  test("dedupe: the same message is one turn, the same operation one session", async () => {
    const host = await open(await newWorld(), ok);
    const first = await host.open({ operationKey: "op", input: opening("hi") });
    const again = await host.open({ operationKey: "op", input: opening("hi") });
    expect(again).toEqual({ sessionId: first.sessionId, created: false, conflict: false });
    await replies(host, first.sessionId, 1);
    expect(await host.deliver(first.sessionId, "d1", message("d1", "more"))).toBe("accepted");
    expect(await host.deliver(first.sessionId, "d1", message("d1", "more"))).toBe("duplicate");
    await replies(host, first.sessionId, 2);
    expect(await host.deliver(first.sessionId, "d1", message("d1", "more"))).toBe("duplicate");
    expect(await host.delivered(first.sessionId, "d1")).toBe(true);
    expect(await host.delivered(first.sessionId, "d2")).toBe(false);
    expect((await host.state(first.sessionId))?.nextSequence).toBe(2);
  });

  test("dedupe: what was accepted before a crash is known after it", async () => {
    const world = await newWorld();
    const before = await open(world, ok);
    const first = await before.open({ operationKey: "op", digest: "a", input: opening("hi") });
    await before.deliver(first.sessionId, "d1", message("d1", "more", "queue"));
    await crash(world, before);
    const after = await open(world, ok);
    expect(await after.open({ operationKey: "op", digest: "a", input: opening("hi") })).toMatchObject({
      sessionId: first.sessionId,
      created: false,
    });
    expect(await after.deliver(first.sessionId, "d1", message("d1", "more", "queue"))).toBe("duplicate");
    expect(await replies(after, first.sessionId, 2)).toEqual(["ok", "ok"]);
  });
}
