import { expect, test } from "vitest";
import { calling, delegating, message, opening, reply, responded } from "./perform.fixture.ts";
import { all, replies, until } from "./read-events.fixture.ts";
import type { Suite } from "./world.fixture.ts";

/** What must not happen and does: nothing of it stops a session. */
export function testFaults({ newWorld, open }: Suite): void {
  test("effects: a performer that throws is run again", async () => {
    let runs = 0;
    const host = await open(await newWorld(), async () => {
      if (++runs === 1) throw new Error("a fault of the performer");
      return responded("ok");
    });
    const { sessionId } = await host.open({ input: opening("hi") });
    expect(await replies(host, sessionId, 1)).toEqual(["ok"]);
  });

  test("mail: what can not be processed is left out, what follows is read", async () => {
    const host = await open(
      await newWorld(),
      reply(() => "ok"),
    );
    const { sessionId } = await host.open({ input: opening(undefined) });
    const bad = message("bad", "");
    await host.deliver(sessionId, "bad", { ...bad, delivery: { ...bad.delivery, parts: null as never } });
    await host.deliver(sessionId, "d1", message("d1", "hi"));
    expect(await replies(host, sessionId, 1)).toEqual(["ok"]);
  });

  test("mail: what can not be processed fails the turn under way", async () => {
    const host = await open(await newWorld(), delegating({ hangInChild: true }));
    const { sessionId } = await host.open({ input: opening("go") });
    await until(host, sessionId, "turn.waiting");
    await host.deliver(sessionId, "bad", { kind: "child.settled", callIds: null as never, status: "completed" });
    const failed = (await until(host, sessionId, "turn.failed")).find(({ type }) => type === "turn.failed");
    expect(failed?.data).toMatchObject({ code: "INTERNAL" });
  });

  test("results: one that can not be stored is a failed one", async () => {
    const host = await open(await newWorld(), async (effect, { state }) => {
      if (effect.kind === "tool") {
        return { kind: "tool.settled", callId: effect.call.callId, status: "completed", output: 1n };
      }
      return state.turn!.stepIndex === 0 ? calling(["a"]) : responded("done");
    });
    const { sessionId } = await host.open({ input: opening("hi") });
    expect(await replies(host, sessionId, 1)).toEqual(["done"]);
    const result = (await all(host, sessionId)).find(({ type }) => type === "action.result");
    expect(result?.data).toMatchObject({
      status: "failed",
      result: { output: expect.stringMatching(/^TOOL_FAILED/) },
    });
  });

  test("effects: one whose performer always throws fails, and the session goes on", async () => {
    const runs: string[] = [];
    const host = await open(await newWorld(), async (effect, { state }) => {
      runs.push(effect.kind);
      const { turnId, stepIndex } = state.turn!;
      if (effect.kind === "tool" || turnId === "turn_1") throw new Error("a fault of the performer");
      return stepIndex === 0 ? calling(["a"]) : responded("done");
    });
    const { sessionId } = await host.open({ input: opening("hi") });
    expect(await replies(host, sessionId, 1)).toEqual(["done"]);
    expect(runs).toEqual(["model", "tool", "tool", "tool", "model"]);
    await host.deliver(sessionId, "d1", message("d1", "again"));
    const failed = (await until(host, sessionId, "turn.failed")).find(({ type }) => type === "turn.failed");
    expect(failed?.data).toMatchObject({ code: "INTERNAL", message: "a fault of the performer" });
    expect(runs.slice(5)).toEqual(["model", "model", "model"]);
  });
}
