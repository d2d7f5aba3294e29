import { exec } from "node:child_process";
import { lstatSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { promisify } from "node:util";
import { openSession } from "../client.ts";
import type { Server, Side } from "../servers/server.ts";
import { alternate, byRound, type Details, type Results, type Spec } from "./row.ts";
import { usageOf } from "./process-usage.ts";
import { withServers } from "./servers.ts";

/** After its start a process is left alone this long before it counts as idle. */
const SETTLE_MS = 1_500;
const BUILD_MS = 60_000;

/** From the start of `eve start` to the first 200 of `health`. */
export const boot: Spec["measure"] = async (bench) =>
  byRound(
    await alternate(bench, async (side) => {
      const server = await side.start();
      await server.stop();
      return [server.bootMs];
    }),
  );

/** Resident memory of a member that has answered its health check and nothing else; and under 32 sessions. */
export const rss: Spec["measure"] = async (bench) => {
  const loaded: Record<string, number> = {};
  const largest: Record<string, number> = {};
  const all = await alternate({ ...bench, rounds: Math.min(bench.rounds, 3) }, async (side) => {
    const server = await side.start();
    try {
      await delay(SETTLE_MS);
      const idle = usageOf(server.process.pid);
      await load(server, 32, side.name === "eve" ? 2 : 20);
      const busy = usageOf(server.process.pid);
      loaded[side.name] = Math.max(loaded[side.name] ?? 0, busy.rssMb);
      largest[side.name] = idle.largestMb;
      return [idle.rssMb];
    } finally {
      await server.stop();
    }
  });
  return withDetails(byRound(all), (side) => ({ loaded: loaded[side]!, largestProcessIdle: largest[side]! }));
};

/** CPU time of the server's processes a plain turn. */
export const cpu: Spec["measure"] = (bench) =>
  withServers(bench.sides, async (server) => {
    for (const side of bench.sides) await load(server(side), 1, side.name === "eve" ? 10 : 100);
    return byRound(
      await alternate(bench, async (side) => {
        const amount = side.name === "eve" ? 25 : 200;
        const session = await openSession(server(side).api);
        const before = usageOf(server(side).process.pid).cpuMs;
        for (let i = 0; i < amount; i++) await session.turn("plain");
        const after = usageOf(server(side).process.pid).cpuMs;
        session.close();
        return [(after - before) / amount];
      }),
    );
  });

/** Growth of all that is stored, a plain turn, between two clean stops: what is in a write-ahead log then counts. */
export const disk: Spec["measure"] = async (bench) =>
  byRound(
    await alternate({ ...bench, rounds: Math.min(bench.rounds, 2) }, async (side) => {
      const amount = side.name === "eve" ? 40 : 1_000;
      const first = await side.start();
      await load(first, 1, 10).finally(first.stop);
      const before = bytesBelow(first.store);
      const second = await side.start({ store: first.store });
      await load(second, 1, amount).finally(second.stop);
      return [(bytesBelow(second.store) - before) / amount / 1_000];
    }),
  );

/** `eve build` of one member with nothing built before; and the repository's own `build` when nothing has changed. */
export const build: Spec["measure"] = async (bench) => {
  const sides = bench.sides.filter(({ build }) => build !== undefined);
  const all = await alternate({ ...bench, sides, rounds: Math.min(bench.rounds, 3) }, async (side) => [
    await side.build!(),
  ]);
  // A repository that does not build at the moment is no reason to lose the row.
  const unchanged = await measureUnchanged().catch(() => "failed");
  bench.say(`unchanged build of this repository, in ms: ${unchanged}`);
  return withDetails(byRound(all), (side) => (side === "ours" ? { unchangedRepository: unchanged } : {}));
};

/** The root's `build` script for the second time. */
async function measureUnchanged(): Promise<number> {
  const root = join(import.meta.dirname, "../..");
  const { scripts } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as { scripts: { build: string } };
  const path = `${join(root, "node_modules/.bin")}:${process.env.PATH}`;
  const env = { ...process.env, PATH: path, TURBO_TELEMETRY_DISABLED: "1" };
  let last = 0;
  for (let i = 0; i < 2; i++) {
    const begun = performance.now();
    await promisify(exec)(scripts.build, { cwd: root, env, timeout: BUILD_MS });
    last = performance.now() - begun;
  }
  return last;
}

async function load(server: Server, sessions: number, turns: number): Promise<void> {
  const opened = await Promise.all(Array.from({ length: sessions }, () => openSession(server.api)));
  await Promise.all(
    opened.map(async (session) => {
      for (let i = 0; i < turns; i++) await session.turn("plain");
      session.close();
    }),
  );
}

function bytesBelow(folder: string): number {
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .map((path) => lstatSync(join(folder, path)))
    .reduce((sum, stat) => sum + (stat.isFile() ? stat.size : 0), 0);
}

function withDetails(results: Results, details: (side: Side["name"]) => Details): Results {
  const entries = Object.entries(results).map(([side, measured]) => [
    side,
    { ...measured, details: details(side as Side["name"]) },
  ]);
  return Object.fromEntries(entries) as Results;
}
