import { expect, test } from "vitest";
import { message, opening, reply, responded } from "./perform.fixture.ts";
import { all, replies, until } from "./read-events.fixture.ts";
import type { Suite } from "./world.fixture.ts";

/** What was appended can be read, from any index, in pages, as it comes. */
export function testStreams({ newWorld, open }: Suite): void {
  test("streams: what is read in pages is whole", async () => {
    const host = await open(
      await newWorld(),
      reply(() => "ok"),
    );
    const { sessionId } = await host.open({ input: opening("hi") });
    const events = await until(host, sessionId, "session.waiting");
    const paged: number[] = [];
    for (;;) {
      const page = await host.events(sessionId, paged.length, 3);
      paged.push(...page.map(({ index }) => index));
      if (page.length < 3) break;
    }
    expect(paged).toEqual(events.map((_, index) => index));
  });

  test("streams: a page ends where its length does, and holds at least one", async () => {
    const host = await open(
      await newWorld(),
      reply(() => "x".repeat(1_000)),
    );
    const { sessionId } = await host.open({ input: opening("hi") });
    await until(host, sessionId, "session.waiting");
    const every = await host.events(sessionId, 0, 100);
    const length = every[0]!.line.length + every[1]!.line.length;
    expect(await host.events(sessionId, 0, 100, length)).toEqual(every.slice(0, 2));
    expect(await host.events(sessionId, 0, 100, length - 1)).toEqual(every.slice(0, 1));
    expect(await host.events(sessionId, 0, 100, 1)).toEqual(every.slice(0, 1));
    expect(await host.events(sessionId, 0, 100, 1_000_000)).toEqual(every);
    expect(await host.events(sessionId, every.length, 100, 1)).toEqual([]);
  });

  test("streams: a reader is told of every change, until it does not want to be", async () => {
    const host = await open(
      await newWorld(),
      reply(() => "ok"),
    );
    const { sessionId } = await host.open({ input: opening(undefined) });
    let seen = 0;
    let told = 0;
    const complete = Promise.withResolvers<void>();
    const stop = host.subscribe(sessionId, () => {
      told++;
      void host.head(sessionId).then((head) => {
        seen = Math.max(seen, head?.nextIndex ?? 0);
        if (seen === 8) complete.resolve();
      });
    });
    await host.deliver(sessionId, "d1", message("d1", "hi"));
    await complete.promise;
    stop();
    const before = told;
    await host.deliver(sessionId, "d2", message("d2", "hi"));
    await replies(host, sessionId, 2);
    expect(told).toBe(before);
  });

  test("streams: text is there before the message that completes it, and in order", async () => {
    const host = await open(await newWorld(), async (effect, { state, stream }) => {
      const { turnId, sequence, stepIndex } = state.turn!;
      for (const messageDelta of ["one ", "two ", "three"]) {
        stream({ public: true, type: "message.appended", data: { turnId, sequence, stepIndex, messageDelta } });
        await new Promise((resolve) => setTimeout(resolve, 40));
      }
      return effect.kind === "model" ? responded("one two three") : undefined;
    });
    const { sessionId } = await host.open({ input: opening("count") });
    const events = await until(host, sessionId, "session.waiting");
    const deltas = events.filter((event) => event.type === "message.appended");
    expect(deltas.length).toBeGreaterThan(1);
    expect(deltas.map((event) => event.data.messageDelta).join("")).toBe("one two three");
    const completed = events.findIndex(({ type }) => type === "message.completed");
    expect(events.lastIndexOf(deltas.at(-1)!)).toBeLessThan(completed);
  });

  test("streams: two sessions have an index each", async () => {
    const host = await open(
      await newWorld(),
      reply(() => "ok"),
    );
    const opened = await Promise.all(["a", "b"].map((text) => host.open({ input: opening(text) })));
    for (const { sessionId } of opened) {
      await until(host, sessionId, "session.waiting");
      const stored = await host.events(sessionId, 0, 100);
      expect(stored.map(({ index }) => index)).toEqual((await all(host, sessionId)).map((_, index) => index));
    }
  });
}
