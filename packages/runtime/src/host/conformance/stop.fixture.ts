import { expect, test } from "vitest";
import type { Perform } from "../../engine/ports.ts";
import { calling, message, opening, reply, responded } from "./perform.fixture.ts";
import { replies, until } from "./read-events.fixture.ts";
import type { Suite } from "./world.fixture.ts";

/** A process that is asked to end loses nothing either, and what it stopped was no crash. */
export function testStops({ newWorld, open, close, crash }: Suite): void {
  /** Calls one tool, which is stopped `stops` times, then returns. */
  const stubborn = (onInterrupt: "retry" | "fail", started: () => void, isStopped: () => boolean): Perform => {
    return async (effect, { state, signal }) => {
      if (effect.kind !== "tool") return state.turn!.stepIndex === 0 ? calling(["t1"], onInterrupt) : responded("done");
      started();
      if (isStopped()) return new Promise((resolve) => signal.addEventListener("abort", () => resolve(undefined)));
      return { kind: "tool.settled", callId: "t1", status: "completed", output: "worked" };
    };
  };

  test("stop: a tool that clean stops interrupted more often than crashes may is run to its end", async () => {
    const world = await newWorld();
    let sessionId: string | undefined;
    for (let stops = 0; stops < 5; stops++) {
      const started = Promise.withResolvers<void>();
      const host = await open(
        world,
        stubborn("retry", started.resolve, () => true),
      );
      sessionId ??= (await host.open({ input: opening("go") })).sessionId;
      await started.promise;
      await close(host);
    }
    const last = await open(
      world,
      stubborn(
        "retry",
        () => {},
        () => false,
      ),
    );
    const events = await until(last, sessionId!, "session.waiting");
    const result = events.find((event) => event.type === "action.result");
    expect(result?.data).toMatchObject({ status: "completed", result: { output: "worked" } });
  });

  test("stop: crashes count, also between clean stops", async () => {
    const world = await newWorld();
    let sessionId: string | undefined;
    for (const end of [crash, undefined, crash, undefined, crash]) {
      const started = Promise.withResolvers<void>();
      const host = await open(
        world,
        stubborn("retry", started.resolve, () => true),
      );
      sessionId ??= (await host.open({ input: opening("go") })).sessionId;
      await started.promise;
      await (end === undefined ? close(host) : end(world, host));
    }
    const last = await open(
      world,
      stubborn(
        "retry",
        () => {},
        () => false,
      ),
    );
    const events = await until(last, sessionId!, "session.waiting");
    const result = events.find((event) => event.type === "action.result");
    expect(result?.data).toMatchObject({ status: "failed" });
  });

  test("stop: a tool that must not run twice may finish, and its result counts", async () => {
    const world = await newWorld();
    const started = Promise.withResolvers<void>();
    const finish = Promise.withResolvers<void>();
    const host = await open(world, async (effect, { state }) => {
      if (effect.kind !== "tool") return state.turn!.stepIndex === 0 ? calling(["t1"], "fail") : responded("done");
      started.resolve();
      await finish.promise;
      return { kind: "tool.settled", callId: "t1", status: "completed", output: "worked" };
    });
    const { sessionId } = await host.open({ input: opening("go") });
    await started.promise;
    const closed = close(host, 60_000);
    finish.resolve();
    await closed;
    const after = await open(
      world,
      reply(() => "done"),
    );
    const events = await until(after, sessionId, "session.waiting");
    const result = events.find((event) => event.type === "action.result");
    expect(result?.data).toMatchObject({ status: "completed", result: { output: "worked" } });
    // The model call after it was never begun: it is no second attempt.
    expect(events.filter((event) => event.type === "step.started").map(({ data }) => data.attempt)).toEqual([1, 1]);
  });

  test("stop: one that does not finish in time is reported as interrupted", async () => {
    const world = await newWorld();
    const started = Promise.withResolvers<void>();
    const host = await open(
      world,
      stubborn("fail", started.resolve, () => true),
    );
    const { sessionId } = await host.open({ input: opening("go") });
    await started.promise;
    await close(host, 5);
    const after = await open(
      world,
      stubborn(
        "fail",
        () => expect.unreachable("It is not run again."),
        () => false,
      ),
    );
    const events = await until(after, sessionId, "session.waiting");
    const result = events.find((event) => event.type === "action.result");
    expect(result?.data).toMatchObject({
      status: "failed",
      result: { output: expect.stringContaining("TOOL_INTERRUPTED") },
    });
  });

  test("stop: what was accepted while it stops is done by the next process", async () => {
    const world = await newWorld();
    const started = Promise.withResolvers<void>();
    const host = await open(
      world,
      stubborn("fail", started.resolve, () => true),
    );
    const { sessionId } = await host.open({ input: opening("go") });
    await started.promise;
    const closed = close(host, 50);
    expect(await host.deliver(sessionId, "d1", message("d1", "more", "queue"))).toBe("accepted");
    await closed;
    const after = await open(
      world,
      reply(() => "ok"),
    );
    expect((await replies(after, sessionId, 2)).at(-1)).toBe("ok");
  });
}
