import { readdirSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import { openSession } from "../client.ts";
import type { Server, Side } from "../servers/server.ts";
import { median, round } from "../statistics.ts";
import { usageOf } from "./process-usage.ts";
import { NO_LIMIT, type Bench, type Details, type Results, type Spec } from "./row.ts";

const PARKED = 10_000;
const ACTIVE = 500;
/** Sessions that are opened at a time. */
const LANES = 32;
/** After its start a process is left alone this long before it counts as idle. */
const SETTLE_MS = 1_500;
const FIRST_TURN_MS = 300;
const WITHIN = 1.1;

/** What a start and the first new turn after it cost beside sessions that wait; eve is not asked. */
export const parked: Spec = {
  unit: "ms",
  about: `first new turn after health beside ${PARKED} parked sessions`,
  limit: `≤ ${FIRST_TURN_MS} ms; boot, memory, files within 10 %`,
  met: ({ ours, details }) =>
    ours <= FIRST_TURN_MS && ["boot", "rss", "files"].every((what) => Number(details[`ours.${what}Ratio`]) <= WITHIN),
  measure: async ({ sides, rounds, say }) => {
    const ours = oursOf(sides);
    const empty = await storeOf(ours, async () => {});
    const full = await storeOf(ours, (server) => openMany(server, PARKED, "plain"));
    say(`${PARKED} sessions are parked`);
    const seen = { empty: [] as Start[], full: [] as Start[] };
    for (let at = 0; at < rounds; at++) {
      for (const side of at % 2 === 0 ? (["empty", "full"] as const) : (["full", "empty"] as const)) {
        const start = await measureStart(ours, side === "empty" ? empty : full);
        seen[side].push(start);
        say(`round ${at + 1}/${rounds} ${side}: first turn ${round(start.turn)}, boot ${round(start.boot)} ms`);
      }
    }
    return { ours: { figures: seen.full.map(({ turn }) => turn), details: compare(seen.empty, seen.full) } };
  },
};

/** A start that takes up turns which a crash interrupted, all at once. */
export const resumed: Spec = {
  ...NO_LIMIT,
  unit: "ms",
  about: `first new turn after health while ${ACTIVE} interrupted ones resume`,
  limit: `≤ ${FIRST_TURN_MS} ms`,
  met: ({ ours }) => ours <= FIRST_TURN_MS,
  measure: async ({ sides, rounds, say }: Bench): Promise<Results> => {
    const ours = oursOf(sides);
    const figures: number[] = [];
    for (let at = 0; at < rounds; at++) {
      const store = await storeOf(ours, (server) => openMany(server, ACTIVE, "hang"), { hang: true });
      const server = await ours.start({ store });
      try {
        figures.push((await openSession(server.api)).openMs);
      } finally {
        await server.stop();
      }
      say(`round ${at + 1}/${rounds}: ${round(figures.at(-1)!)}`);
    }
    return { ours: { figures } };
  },
};

interface Start {
  readonly turn: number;
  readonly boot: number;
  readonly rss: number;
  readonly files: number;
}

async function measureStart(side: Side, store: string): Promise<Start> {
  const server = await side.start({ store });
  try {
    const session = await openSession(server.api);
    session.close();
    await delay(SETTLE_MS);
    const { pid } = server.process;
    const files = readdirSync(`/proc/${pid}/fd`).length;
    return { turn: session.openMs, boot: server.bootMs, rss: usageOf(pid).rssMb, files };
  } finally {
    await server.stop();
  }
}

function compare(empty: readonly Start[], full: readonly Start[]): Details {
  const medianOf = (starts: readonly Start[], what: keyof Start): number => median(starts.map((start) => start[what]));
  return Object.fromEntries(
    (["turn", "boot", "rss", "files"] as const).flatMap((what) => {
      const [without, beside] = [medianOf(empty, what), medianOf(full, what)];
      return [
        [`${what}Without`, round(without)],
        [`${what}Beside`, round(beside)],
        [`${what}Ratio`, beside / without],
      ];
    }),
  );
}

/** A store that a server has filled; `hang`: it was killed in the middle of its turns. */
async function storeOf(side: Side, fill: (server: Server) => Promise<void>, { hang = false } = {}): Promise<string> {
  const server = await side.start(hang ? { env: { BENCH_HANG: "1" } } : {});
  try {
    await fill(server);
  } finally {
    if (hang) await server.process.kill();
    else await server.stop();
  }
  return server.store;
}

async function openMany(server: Server, count: number, turn: "plain" | "hang"): Promise<void> {
  let left = count;
  await Promise.all(
    Array.from({ length: LANES }, async () => {
      while (left-- > 0) {
        const session = await openSession(server.api, turn);
        session.close();
      }
    }),
  );
}

function oursOf(sides: readonly Side[]): Side {
  return sides.find(({ name }) => name === "ours")!;
}
