import { expect, test } from "vitest";
import { callingHelper, delegating, opening, responded } from "./perform.fixture.ts";
import { all, until, when } from "./read-events.fixture.ts";
import type { Suite } from "./world.fixture.ts";

/** Sessions of one store speak with each other in the transactions of their logs. */
export function testChildren({ newWorld, open, crash }: Suite): void {
  test("children: a call opens a session here, and its reply comes back", async () => {
    const host = await open(await newWorld(), delegating());
    const { sessionId } = await host.open({ input: opening("go") });
    const events = await until(host, sessionId, "session.waiting");
    const started = events.find((event) => event.type === "agent.started");
    const child = await all(host, started!.data.sessionId);
    expect(child.at(-1)?.type).toBe("session.waiting");
    const settled = events.find((event) => event.type === "task.settled");
    expect(settled?.data).toMatchObject({ status: "completed", output: "child reply" });
    expect(await host.head(started!.data.sessionId)).toMatchObject({ parentSessionId: sessionId, agentName: "helper" });
  });

  test("children: one that is announced is there, whatever happens right after", async () => {
    const world = await newWorld();
    const before = await open(world, async (effect, context) => delegating({ hangInChild: true })(effect, context));
    const { sessionId } = await before.open({ input: opening("go") });
    const events = await until(before, sessionId, "agent.started");
    await crash(world, before);
    const after = await open(world, delegating());
    const child = events.find((event) => event.type === "agent.started")!.data.sessionId;
    expect((await after.head(child))?.parentSessionId).toBe(sessionId);
    await until(after, child, "session.waiting");
    const whole = await until(after, sessionId, "session.waiting");
    expect(whole.filter(({ type }) => type === "agent.started")).toHaveLength(1);
    expect(await after.descendants(sessionId)).toEqual([child]);
  });

  test("children: the end of a session ends those that it opened", async () => {
    const host = await open(await newWorld(), async (effect, context) => {
      const { origin, turn } = context.state;
      // Two levels: the child calls a child of its own, which never answers.
      if (origin.kind === "local" && context.state.nodeId !== "root/helper/helper" && turn!.stepIndex === 0) {
        const call = callingHelper();
        if (call.kind !== "model.responded") throw new Error("A call is a response.");
        const target = { kind: "local", nodeId: "root/helper/helper", description: "Helps." } as const;
        return { ...call, calls: call.calls.map((made) => ({ ...made, target })) };
      }
      if (context.state.nodeId === "root/helper/helper") return new Promise(() => {});
      return turn!.stepIndex === 0 ? callingHelper() : responded("");
    });
    const { sessionId } = await host.open({ input: opening("go") });
    const child = await firstChild(sessionId);
    const grandchild = await firstChild(child);
    expect(await host.descendants(sessionId)).toEqual([child, grandchild]);
    await host.deliver(sessionId, "end", { kind: "reset" });
    for (const id of [sessionId, child, grandchild]) await until(host, id, "session.completed");

    async function firstChild(id: string): Promise<string> {
      const events = await when(host, id, (seen) => seen.some(({ type }) => type === "agent.started"));
      return events.find((event) => event.type === "agent.started")!.data.sessionId;
    }
  });
}
