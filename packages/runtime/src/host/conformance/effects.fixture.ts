import { expect, test } from "vitest";
import { calling, message, opening, responded } from "./perform.fixture.ts";
import { all, replies, until } from "./read-events.fixture.ts";
import type { Suite } from "./world.fixture.ts";

/** What `decide` lists runs, what it does not list is aborted. */
export function testEffects({ newWorld, open }: Suite): void {
  test("signals: an effect that is no longer wanted is aborted, its result does not count", async () => {
    let aborted = false;
    let release = (): void => {};
    const host = await open(await newWorld(), async (_effect, { signal }) => {
      signal.addEventListener("abort", () => (aborted = true));
      await new Promise<void>((resolve) => (release = resolve));
      return responded("too late");
    });
    const { sessionId } = await host.open({ input: opening("hi") });
    await until(host, sessionId, "step.started");
    await host.deliver(sessionId, "stop", { kind: "cancel" });
    await until(host, sessionId, "turn.cancelled");
    expect(aborted).toBe(true);
    release();
    await new Promise((resolve) => setImmediate(resolve));
    expect((await all(host, sessionId)).some(({ type }) => type === "message.completed")).toBe(false);
  });

  test("signals: an effect that has its result is not aborted", async () => {
    const signals: AbortSignal[] = [];
    const host = await open(await newWorld(), async (_effect, { signal }) => {
      signals.push(signal);
      return responded("ok");
    });
    const { sessionId } = await host.open({ input: opening("hi") });
    await replies(host, sessionId, 1);
    await host.deliver(sessionId, "end", { kind: "reset" });
    await until(host, sessionId, "session.completed");
    expect(signals.map(({ aborted }) => aborted)).toEqual([false]);
  });

  test("effects: tools of one step run at the same time, the next step follows the last result", async () => {
    let atOnce = 0;
    let most = 0;
    const together = Promise.withResolvers<void>();
    const host = await open(await newWorld(), async (effect, { state }) => {
      if (effect.kind === "tool") {
        most = Math.max(most, ++atOnce);
        if (atOnce === 3) together.resolve();
        await together.promise;
        return { kind: "tool.settled", callId: effect.call.callId, status: "completed", output: 1 };
      }
      return state.turn!.stepIndex === 0 ? calling(["a", "b", "c"]) : responded("done");
    });
    const { sessionId } = await host.open({ input: opening("hi") });
    const events = await until(host, sessionId, "session.waiting");
    expect(most).toBe(3);
    expect(events.filter(({ type }) => type === "action.result")).toHaveLength(3);
    expect(events.filter(({ type }) => type === "step.started")).toHaveLength(2);
  });

  test("effects: sessions do not wait for each other", async () => {
    const slow = Promise.withResolvers<void>();
    const host = await open(await newWorld(), async (_effect, { state }) => {
      if (state.history.some((item) => item.role === "user" && JSON.stringify(item.parts).includes("slow")))
        await slow.promise;
      return responded("ok");
    });
    const first = await host.open({ input: opening("slow") });
    const second = await host.open({ input: opening("fast") });
    expect(await replies(host, second.sessionId, 1)).toEqual(["ok"]);
    expect((await host.head(first.sessionId))?.status).toBe("working");
    slow.resolve();
    expect(await replies(host, first.sessionId, 1)).toEqual(["ok"]);
  });

  test("effects: a message for a session at work waits in order", async () => {
    const host = await open(await newWorld(), async (_effect, { state }) => responded(state.turn!.turnId));
    const { sessionId } = await host.open({ input: opening("one") });
    await host.deliver(sessionId, "d1", message("d1", "two", "queue"));
    await host.deliver(sessionId, "d2", message("d2", "three", "queue"));
    expect(await replies(host, sessionId, 3)).toEqual(["turn_0", "turn_1", "turn_2"]);
  });
}
