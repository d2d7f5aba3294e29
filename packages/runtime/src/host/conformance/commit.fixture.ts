import { expect, test } from "vitest";
import type { FaultPoint, Host } from "../../engine/ports.ts";
import type { StreamEvent } from "../../protocol/events.ts";
import { message, opening, working } from "./perform.fixture.ts";
import { all, until } from "./read-events.fixture.ts";
import type { Suite, World } from "./world.fixture.ts";

/** More fault points than one conversation has: the loops below would not end. */
const TOO_MANY = 200;

/** A commit happens whole or not at all, and whatever happens around it, the conversation comes out the same. */
export function testCommits({ newWorld, open, crash }: Suite): void {
  test("commit: a message whose transaction failed was not accepted, and is when it comes again", async () => {
    let broken = false;
    const host = await open(await newWorld(), working(), {
      fault: (point) => {
        if (broken && point === "commit:before") throw new Error("no luck");
      },
    });
    const { sessionId } = await host.open({ input: opening(undefined) });
    broken = true;
    await expect(host.deliver(sessionId, "d1", message("d1", "hi"))).rejects.toThrow("no luck");
    await expect(host.open({ operationKey: "op", input: opening("hi") })).rejects.toThrow("no luck");
    broken = false;
    expect(await host.delivered(sessionId, "d1")).toBe(false);
    expect((await host.list({ limit: 10 })).sessions).toHaveLength(1);
    expect(await host.deliver(sessionId, "d1", message("d1", "hi"))).toBe("accepted");
    expect((await host.open({ operationKey: "op", input: opening("hi") })).created).toBe(true);
    await until(host, sessionId, "session.waiting");
  });

  test("commit: whatever throws at any point, all is done once", { timeout: 60_000 }, async () => {
    for (let at = 1; at < TOO_MANY; at++) {
      const fault = failing(at);
      const host = await open(await newWorld(), working(), { fault: fault.at });
      const sessionId = await openSurely(host);
      check(await until(host, sessionId, "session.waiting"), `a fault at ${at} (${fault.struck() ?? "never"})`);
      if (fault.struck() === undefined) return;
    }
    expect.unreachable("There is no end of fault points.");
  });

  test("commit: whenever the process dies, the next one does all that is left, once", { timeout: 60_000 }, async () => {
    for (let at = 1; at < TOO_MANY; at++) {
      const world = await newWorld();
      const fault = failing(at);
      const { host, sessionId, read } = await converseUntil(world, fault);
      const events = await until(host, sessionId, "session.waiting");
      expect(events.slice(0, read.length)).toEqual(read);
      check(events, `a death at ${at} (${fault.struck() ?? "never"})`);
      if (fault.struck() === undefined) return;
    }
    expect.unreachable("There is no end of fault points.");
  });

  /** Begins a conversation in one process, and goes on with it in another when the first has died. */
  const converseUntil = async (
    world: World,
    fault: ReturnType<typeof failing>,
  ): Promise<{ host: Host; sessionId: string; read: StreamEvent[] }> => {
    const died = Promise.withResolvers<"died">();
    const first: Host = await open(world, working(), {
      fault: (point) => {
        try {
          fault.at(point);
        } catch (error) {
          void crash(world, first).then(() => died.resolve("died"));
          throw error;
        }
      },
    });
    const whole = openSurely(first).then(async (sessionId) => {
      await until(first, sessionId, "session.waiting");
      return sessionId;
    });
    const end = await Promise.race([whole, died.promise]);
    if (fault.struck() === undefined) return { host: first, sessionId: end, read: [] };
    await died.promise;
    const second = await open(world, working());
    const sessionId = await openSurely(second);
    return { host: second, sessionId, read: await all(second, sessionId) };
  };
}

/** Throws at the n-th fault point, once. */
function failing(at: number): {
  readonly at: (point: FaultPoint) => void;
  readonly struck: () => FaultPoint | undefined;
} {
  let passed = 0;
  let struck: FaultPoint | undefined;
  return {
    struck: () => struck,
    at: (point) => {
      if (++passed !== at) return;
      struck = point;
      throw new Error(`a fault at ${point}`);
    },
  };
}

/** As a client does: with an operation key, until it is answered. */
async function openSurely(host: Host): Promise<string> {
  const request = { operationKey: "conversation", input: opening("go") };
  const { sessionId } = await host.open(request).catch(() => host.open(request));
  return sessionId;
}

function check(events: readonly StreamEvent[], when: string): void {
  const counts: Record<string, number> = {};
  for (const { type } of events) if (type !== "step.started") counts[type] = (counts[type] ?? 0) + 1;
  expect(counts, when).toMatchObject({
    "session.started": 1,
    "turn.started": 1,
    "message.received": 1,
    "agent.started": 1,
    "task.started": 1,
    "task.settled": 1,
    "actions.requested": 2,
    "action.result": 2,
    "turn.completed": 1,
    "session.waiting": 1,
  });
  expect(events.find((event) => event.type === "task.settled")?.data, when).toMatchObject({
    status: "completed",
    output: "child reply",
  });
  expect(events.findLast((event) => event.type === "message.completed")?.data.message, when).toBe("parent reply");
  expect(new Set(events.map(({ meta }) => meta.id)).size, when).toBe(events.length);
}
