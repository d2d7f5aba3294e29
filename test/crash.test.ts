import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { BuiltWorkspace } from "./support/build-workspace.ts";
import { checkCrashRun } from "./support/check-crash-run.ts";
import { parseEvent, replyOf } from "./support/check-stream.ts";
import { runConversation, type CrashRun, type Victim } from "./support/crash-run.ts";

/** Conversations at a time. */
const PARALLEL = 3;
/** More fault points than a conversation can have: the loop below would not end. */
const TOO_MANY = 300;
const POINTS = ["commit:after", "commit:before", "effect:after", "effect:before"];

let workspace: BuiltWorkspace;
let reply: string;
const report: string[] = [];

beforeAll(async () => {
  const { buildRecordedWorkspace } = await import("./support/recorded-workspace.ts");
  workspace = await buildRecordedWorkspace();
  const whole = await runConversation(workspace);
  reply = replyOf(whole.lines.map(parseEvent));
  expect(reply).toContain("Tides are the regular rise and fall of the sea");
  checkCrashRun(whole, reply);
}, 60_000);

afterAll(() => {
  workspace?.[Symbol.dispose]();
  console.log(report.join("\n"));
});

describe.each<Victim>(["foreman", "research"])("%s killed", (victim) => {
  test("at every commit and every effect: nothing is lost, doubled or run again", { timeout: 180_000 }, async () => {
    const { runs, failures } = await killAtEveryPoint(victim);
    const deaths = runs.flatMap(({ run }) => run.death ?? []);
    const slowest = Math.max(...runs.map(({ run }) => run.recoveryMs));
    report.push(`${victim}: killed at ${deaths.length} points, slowest recovery ${Math.round(slowest)} ms`);
    expect(failures).toEqual([]);
    expect([...new Set(deaths.map(({ point }) => point))].toSorted()).toEqual(POINTS);
  });
});

interface Outcome {
  readonly runs: readonly { readonly at: number; readonly run: CrashRun }[];
  readonly failures: readonly string[];
}

/** Kills at the first point, the second, … until a conversation is over before its point is reached. */
async function killAtEveryPoint(victim: Victim): Promise<Outcome> {
  const runs: { at: number; run: CrashRun }[] = [];
  const failures: string[] = [];
  let at = 0;
  let reachedEnd = false;
  const work = async (): Promise<void> => {
    while (!reachedEnd) {
      const point = ++at;
      if (point > TOO_MANY) throw new Error(`${victim} has more than ${TOO_MANY} fault points.`);
      let run: CrashRun | undefined;
      try {
        run = await runConversation(workspace, { victim, at: point });
        if (run.death === undefined) reachedEnd = true;
        runs.push({ at: point, run });
        checkCrashRun(run, reply);
      } catch (error) {
        failures.push(`${victim} at ${point} (${run?.death?.point ?? "?"}): ${(error as Error).message}`);
      }
    }
  };
  await Promise.all(Array.from({ length: PARALLEL }, work));
  return { runs, failures };
}
