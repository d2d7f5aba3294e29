/**
 * `pnpm chaos`: many seeds of the chaos test, one after the other. For each that fails: what was wrong, the timeline
 * and the seed to run again. Ends with how often each situation was reached, and exits with 1 when a seed failed.
 */
import { buildChaosWorkspace } from "./drive/build.ts";
import { parseOptions } from "./options.ts";
import { describeFailure, describeReached, describeSeed, describeTimes, sumReached } from "./report.ts";
import { runSeed, type SeedReport } from "./run-seed.ts";

const { first, count, minutes, json } = parseOptions(process.argv.slice(2));
const until = Date.now() + minutes * 60_000;
const say = (text: string): void => void (json ? process.stderr : process.stdout).write(`${text}\n`);

/** Histories are large, and there may be thousands. */
const kept: Omit<SeedReport, "history" | "timeline">[] = [];
using workspace = await buildChaosWorkspace();
for (let seed = first; seed < first + count && Date.now() < until; seed++) {
  const report = await runSeed(workspace, seed);
  const failed = report.violations.length > 0;
  say(failed ? describeFailure(report) : describeSeed(report));
  const { history: _, timeline, ...facts } = report;
  kept.push(facts);
  if (json) process.stdout.write(`${JSON.stringify(failed ? { ...facts, timeline } : facts)}\n`);
}

const failed = kept.filter(({ violations }) => violations.length > 0).map(({ seed }) => seed);
const reached = sumReached(kept);
say(describeReached(reached));
say(`from the last restart until all was over: ${describeTimes(kept.map(({ recoveryMs }) => recoveryMs))}`);
say(`from the last restart or message until then: ${describeTimes(kept.map(({ quietMs }) => quietMs))}`);
say(
  `${kept.length - failed.length} passed, ${failed.length} failed${failed.length === 0 ? "" : `: ${failed.join(", ")}`}`,
);
if (json) process.stdout.write(`${JSON.stringify({ passed: kept.length - failed.length, failed, reached })}\n`);
process.exitCode = failed.length === 0 ? 0 : 1;
