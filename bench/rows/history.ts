import { openSession } from "../client.ts";
import type { Server, Side } from "../servers/server.ts";
import { median } from "../statistics.ts";
import type { Measured, Results, SideName, Spec } from "./row.ts";
import { withServers } from "./servers.ts";

const LAST = 500;
const EARLY: readonly [number, number] = [5, 15];
const NEIGHBOURS = 20;
/** What eve gets; it does not come to turn 500 in under a minute. */
const BUDGET_MS = 22_000;

/** How much slower a late turn of one session is than turn 10. */
export const history: Spec["measure"] = ({ sides, rounds, say }) =>
  withServers(sides, async (server) => {
    const results: Partial<Record<SideName, Measured>> = {};
    for (const side of sides) {
      const figures: number[] = [];
      let last: Sample | undefined;
      const end = performance.now() + BUDGET_MS;
      while (figures.length < Math.min(rounds, 3) && (last === undefined || performance.now() + last.ms < end)) {
        last = await measureSession(side, server(side), end);
        figures.push(last.late / last.early);
        say(`${side.name}: turn 10 ${last.early.toFixed(2)} ms, turn ${last.turn} ${last.late.toFixed(2)} ms`);
      }
      const { early, late, turn } = last!;
      results[side.name] = { figures, details: { turn10: early, late, lateTurn: turn, sessions: figures.length } };
    }
    return results as Results;
  });

interface Sample {
  readonly early: number;
  readonly late: number;
  /** The turn that `late` stands for. */
  readonly turn: number;
  readonly ms: number;
}

async function measureSession(side: Side, server: Server, end: number): Promise<Sample> {
  const begun = performance.now();
  // Its code is compiled by then: a session of its own, so that turn 10 is not the tenth of the process.
  const warm = await openSession(server.api);
  for (let i = 0; i < (side.name === "eve" ? 10 : 200); i++) await warm.turn("plain");
  warm.close();
  const session = await openSession(server.api);
  const figures: number[] = [0];
  while (figures.length < LAST + NEIGHBOURS / 2 && performance.now() < end) figures.push(await session.turn("plain"));
  session.close();
  const early = median(figures.slice(...EARLY));
  const late = median(figures.slice(-NEIGHBOURS));
  return { early, late, turn: figures.length - NEIGHBOURS / 2, ms: performance.now() - begun };
}
