import { afterAll, beforeAll, expect, test } from "vitest";
import { SITUATIONS } from "./chaos/check/coverage.ts";
import { buildChaosWorkspace } from "./chaos/drive/build.ts";
import { describeFailure, describeReached, sumReached } from "./chaos/report.ts";
import { runSeed, type SeedReport } from "./chaos/run-seed.ts";
import type { BuiltWorkspace } from "./support/build-workspace.ts";

/** Chosen because together they come to every situation several times, and soon. `pnpm chaos` runs many more. */
const SEEDS = [5, 10, 11, 33, 35, 67, 95, 102, 112];

let workspace: BuiltWorkspace;
const reports: SeedReport[] = [];

beforeAll(async () => {
  workspace = await buildChaosWorkspace();
});
afterAll(() => workspace?.[Symbol.dispose]());

test.each(SEEDS)(
  "seed %i: members that are killed under load keep every promise",
  { timeout: 180_000 },
  async (seed) => {
    const report = await runSeed(workspace, seed);
    reports.push(report);
    expect(report.violations, describeFailure(report)).toEqual([]);
  },
);

/** Where exactly a kill hits is not in the seed's hands: more of them make up for what the first ones missed. */
const MORE_SEEDS = [1, 2, 3, 4, 6, 7, 8, 9, 12];

test("together they come to every situation that there is a promise for", { timeout: 300_000 }, async () => {
  const missed = (): string[] => SITUATIONS.filter((name) => sumReached(reports)[name] === 0);
  for (const seed of MORE_SEEDS) {
    if (missed().length === 0) break;
    const report = await runSeed(workspace, seed);
    reports.push(report);
    expect(report.violations, describeFailure(report)).toEqual([]);
  }
  console.log(describeReached(sumReached(reports)));
  expect(missed()).toEqual([]);
});
