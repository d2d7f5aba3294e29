import { openSession, type Session } from "../client.ts";
import { median, quantile } from "../statistics.ts";
import { alternate, byRound, type Details, type Results, type Spec } from "./row.ts";
import { withServers } from "./servers.ts";

/** A side is measured this long in a round, but no further than this into its session: eve gets slower with length. */
const SHARE_MS = 1_200;
const MOST_TURNS = 30;
/** Before the first round: code is compiled by then. */
const WARM_UP_MS = 1_000;
const WARM_UP_TURNS = 100;

/** Turns one after the other in a fresh session, from the POST of the message to `session.waiting` on the stream. */
export function turns(turn: string): Spec["measure"] {
  const peers = turn.startsWith("peer");
  return (bench) =>
    withServers(
      bench.sides,
      async (server) => {
        for (const side of bench.sides) await warmUp(server(side).api, turn);
        const all = await alternate(bench, async (side) => {
          const session = await openSession(server(side).api);
          try {
            return await measureTurns(session, turn);
          } finally {
            session.close();
          }
        });
        return byRound(all, spread);
      },
      { peers },
    );
}

/** New sessions one after the other: from the POST that creates one with its first message to its answer. */
export const creates: Spec["measure"] = (bench) =>
  withServers(bench.sides, async (server) => {
    for (const side of bench.sides) await warmUp(server(side).api, "plain");
    const all = await alternate(bench, async (side) => {
      const figures: number[] = [];
      const end = performance.now() + SHARE_MS;
      while (figures.length < 2 || (performance.now() < end && figures.length < MOST_TURNS)) {
        const session = await openSession(server(side).api);
        figures.push(session.openMs);
        session.close();
      }
      return figures;
    });
    return byRound(all, spread);
  });

async function warmUp(api: string, turn: string): Promise<void> {
  const session = await openSession(api);
  const end = performance.now() + WARM_UP_MS;
  for (let i = 0; i < WARM_UP_TURNS && performance.now() < end; i++) await session.turn(turn);
  session.close();
}

async function measureTurns(session: Session, turn: string): Promise<number[]> {
  const figures: number[] = [];
  const end = performance.now() + SHARE_MS;
  do figures.push(await session.turn(turn));
  while (performance.now() < end && figures.length < MOST_TURNS);
  return figures;
}

function spread(rounds: number[][]): Details {
  const all = rounds.flat();
  return { p95: quantile(all, 0.95), turns: all.length };
}

/** Many sessions at once, each sending its next message when the last was answered; turns a second. */
export function concurrent(sessions: number): Spec["measure"] {
  return (bench) =>
    withServers(bench.sides, async (server) => {
      for (const side of bench.sides) await warmUp(server(side).api, "plain");
      const latencies: Record<string, number[][]> = {};
      const all = await alternate(bench, async (side) => {
        const opened = await Promise.all(Array.from({ length: sessions }, () => openSession(server(side).api)));
        const seen: number[] = [];
        (latencies[side.name] ??= []).push(seen);
        try {
          const begun = performance.now();
          let turnsDone = 0;
          await Promise.all(
            opened.map(async (session) => {
              do {
                seen.push(await session.turn("plain"));
                turnsDone++;
              } while (performance.now() - begun < SHARE_MS);
            }),
          );
          return [(turnsDone / (performance.now() - begun)) * 1_000];
        } finally {
          for (const session of opened) session.close();
        }
      });
      const results = byRound(all);
      return Object.fromEntries(
        Object.entries(results).map(([side, measured]) => [side, { ...measured, details: tail(latencies[side]!) }]),
      ) as unknown as Results;
    });
}

/** Medians over the rounds: one that the machine disturbed must not make the tail of all. */
function tail(rounds: readonly (readonly number[])[]): Details {
  return {
    p50: median(rounds.map((seen) => quantile(seen, 0.5))),
    p99: median(rounds.map((seen) => quantile(seen, 0.99))),
    p99OverP50: median(rounds.map((seen) => quantile(seen, 0.99) / quantile(seen, 0.5))),
    turns: rounds.flat().length,
  };
}
