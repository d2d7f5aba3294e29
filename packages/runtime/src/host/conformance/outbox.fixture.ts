import { expect, test } from "vitest";
import { callingRemote, opening } from "./perform.fixture.ts";
import { until } from "./read-events.fixture.ts";
import type { Suite } from "./world.fixture.ts";

/** Requests to others that must arrive, though no turn waits for them. */
export function testOutbox({ newWorld, open, crash }: Suite): void {
  test("outbox: what stops a remote is sent once it is known, and once only", async () => {
    const requests: string[] = [];
    const world = await newWorld();
    const host = await open(world, callingRemote(requests));
    const { sessionId } = await host.open({ input: opening("go") });
    await until(host, sessionId, "agent.started");
    await host.deliver(sessionId, "stop", { kind: "cancel" });
    await until(host, sessionId, "session.waiting");
    await idle(async () => (await host.state(sessionId))?.outbox.length === 0);
    await crash(world, host);
    const after = await open(world, callingRemote(requests));
    expect((await after.state(sessionId))?.outbox).toEqual([]);
    expect(requests).toEqual(["send", "cancel"]);
  });

  test("outbox: what was not delivered is after a restart, also of a session that has ended", async () => {
    const requests: string[] = [];
    const world = await newWorld();
    const before = await open(
      world,
      callingRemote(requests, () => true),
    );
    const { sessionId } = await before.open({ input: opening("go") });
    await until(before, sessionId, "agent.started");
    await before.deliver(sessionId, "end", { kind: "reset" });
    await until(before, sessionId, "session.completed");
    await idle(async () => requests.includes("reset"));
    await crash(world, before);
    expect(requests.filter((kind) => kind === "reset")).toHaveLength(1);
    const after = await open(world, callingRemote(requests));
    await idle(async () => (await after.state(sessionId))?.outbox.length === 0);
    expect(requests.filter((kind) => kind === "reset")).toHaveLength(2);
  });
}

/** Waits for what no event tells. */
export async function idle(condition: () => Promise<boolean>): Promise<void> {
  while (!(await condition())) await new Promise((resolve) => setTimeout(resolve, 2));
}
