import { expect, test } from "vitest";
import { message, opening, reply } from "./perform.fixture.ts";
import { all, replies } from "./read-events.fixture.ts";
import type { Suite } from "./world.fixture.ts";

/** Long enough that a host which keeps snapshots has kept some. */
const TURNS = 30;
const TEXT = "a text of some length ".repeat(50);

/** Whatever a host keeps beside the log, nobody sees it. */
export function testSnapshots({ newWorld, open, crash }: Suite): void {
  test("snapshots: a long session is the same after a restart, and goes on", async () => {
    const world = await newWorld();
    const before = await open(
      world,
      reply(() => TEXT),
    );
    const { sessionId } = await before.open({ input: opening("0") });
    for (let turn = 1; turn < TURNS; turn++) {
      await replies(before, sessionId, turn);
      await before.deliver(sessionId, `d${turn}`, message(`d${turn}`, `${turn} ${TEXT}`));
    }
    await replies(before, sessionId, TURNS);
    const state = await before.state(sessionId);
    const events = await all(before, sessionId);
    await crash(world, before);
    const after = await open(
      world,
      reply((_effect, { state: now }) => String(now.history.length)),
    );
    expect(await after.state(sessionId)).toEqual(state);
    expect(await all(after, sessionId)).toEqual(events);
    await after.deliver(sessionId, "last", message("last", "how long was it?"));
    expect((await replies(after, sessionId, TURNS + 1)).at(-1)).toBe(String(2 * TURNS + 1));
    for (const index of [0, events.length >> 1, events.length - 1]) {
      const then = await after.stateAt(sessionId, index);
      const turns = events.slice(0, index + 1).filter(({ type }) => type === "turn.started").length;
      expect(then?.nextSequence).toBe(turns);
    }
  });
}
