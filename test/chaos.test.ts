import { afterAll, beforeAll, expect, test } from "vitest";
import { SITUATIONS } from "./chaos/check/coverage.ts";
import { buildChaosWorkspace } from "./chaos/drive/build.ts";
import { describeFailure, describeReached, sumReached } from "./chaos/report.ts";
import { runSeed, type SeedReport } from "./chaos/run-seed.ts";
import type { BuiltWorkspace } from "./support/build-workspace.ts";

/** Chosen because together they come to every situation several times, and soon. `pnpm chaos` runs many more. */
const SEEDS = [1, 2, 3, 4, 5, 6, 7, 8, 9];

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

test("together they come to every situation that there is a promise for", () => {
  const reached = sumReached(reports);
  console.log(describeReached(reached));
  expect(SITUATIONS.filter((name) => reached[name] === 0)).toEqual([]);
});
