import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { BuiltWorkspace } from "./support/build-workspace.ts";
import { checkCrashRun } from "./support/check-crash-run.ts";
import { parseEvent, replyOf } from "./support/check-stream.ts";
import { runConversation, type Crash, type CrashRun, type Traces, type Victim } from "./support/crash-run.ts";
import { buildRecordedWorkspace } from "./support/recorded-workspace.ts";

/** Conversations at a time. */
const PARALLEL = 3;
/** More fault points than a conversation can have: the loop below would not end. */
const TOO_MANY = 300;
const POINTS = ["commit:after", "commit:before", "effect:after", "effect:before"];

let workspace: BuiltWorkspace;
/** What foreman replies when nobody crashes. */
let reply: string;
const report: string[] = [];

beforeAll(async () => {
  workspace = await buildRecordedWorkspace();
  const whole = await runConversation(workspace);
  reply = replyOf(whole.lines.map(parseEvent));
  expect(reply).toContain("Tides are the regular rise and fall of the sea");
  checkCrashRun(whole, reply);
});

afterAll(() => {
  workspace?.[Symbol.dispose]();
  console.log(report.join("\n"));
});

describe("a process is killed", () => {
  /** Fault points of foreman at which research was at work for it. */
  let delegated: number[] = [];

  test.each<Victim>(["foreman", "research"])(
    "%s, at every commit and every effect",
    { timeout: 240_000 },
    async (victim) => {
      const outcomes = await killAtEveryPoint(victim);
      note(victim, outcomes);
      expect(failuresOf(outcomes)).toEqual([]);
      expect(new Set(outcomes.flatMap(({ run }) => run?.death?.point ?? []))).toEqual(new Set(POINTS));
      if (victim === "foreman")
        delegated = outcomes
          .filter(({ run }) => run?.death && isAtWork(run.death))
          .map(({ at }) => at)
          .toSorted((a, b) => a - b);
    },
  );

  test("foreman, and it stays away until research has replied to nobody", { timeout: 120_000 }, async () => {
    expect(delegated).not.toEqual([]);
    const outcomes = await runAll(
      delegated.map((at) => ({
        victim: "foreman",
        at,
        restartWhen: (now, then) => !isAtWork(then) || callbacks(now) > 0,
      })),
    );
    note("foreman, away while research replied", outcomes);
    expect(failuresOf(outcomes)).toEqual([]);
    // Both before and after it had noted that research took the message.
    const deaths = outcomes.flatMap(({ run }) => run?.death ?? []).filter(isAtWork);
    const noted = deaths.map((death) => hasLogged(death, "call.sent"));
    expect(new Set(noted)).toEqual(new Set([false, true]));
  });

  test("foreman, and it stays away so long that research seldom tries", { timeout: 120_000 }, async () => {
    const outcomes = await runAll(
      delegated
        .slice(0, PARALLEL)
        .map((at) => ({ victim: "foreman", at, restartWhen: (now, then) => !isAtWork(then) || callbacks(now) >= 7 })),
    );
    note("foreman, away for long", outcomes);
    expect(failuresOf(outcomes)).toEqual([]);
  });
});

test("research is not there when foreman calls it", { timeout: 60_000 }, async () => {
  const calls = ({ foreman }: Traces) => foreman.executed.filter(({ kind }) => kind === "request").length;
  const outcomes = await runAll([{ victim: "research", at: 0, restartWhen: (now) => calls(now) >= 3 }]);
  note("research, away when it was called", outcomes);
  expect(failuresOf(outcomes)).toEqual([]);
});

interface Outcome {
  readonly at: number;
  readonly run?: CrashRun;
  readonly failure?: string;
}

/** Kills at the first point, the second, … until a conversation is over before its point is reached. */
async function killAtEveryPoint(victim: Victim): Promise<Outcome[]> {
  const outcomes: Outcome[] = [];
  let at = 0;
  let ended = false;
  await inParallel(async () => {
    if (ended) return false;
    if (++at > TOO_MANY) throw new Error(`${victim} has more than ${TOO_MANY} fault points.`);
    const outcome = await kill({ victim, at });
    outcomes.push(outcome);
    if (outcome.run !== undefined && outcome.run.death === undefined) ended = true;
    return true;
  });
  return outcomes;
}

async function runAll(crashes: readonly Crash[]): Promise<Outcome[]> {
  const waiting = [...crashes];
  const outcomes: Outcome[] = [];
  await inParallel(async () => {
    const crash = waiting.shift();
    if (crash === undefined) return false;
    const outcome = await kill(crash);
    outcomes.push(outcome);
    expect(outcome.run?.death, `the death of ${crash.victim} at ${crash.at}: ${outcome.failure}`).toBeDefined();
    return true;
  });
  return outcomes;
}

async function kill(crash: Crash): Promise<Outcome> {
  const { victim, at } = crash;
  let run: CrashRun | undefined;
  try {
    run = await runConversation(workspace, crash);
    checkCrashRun(run, reply);
    return { at, run };
  } catch (error) {
    const failure = `${victim} killed at ${at} (${run?.death?.point ?? "?"}): ${(error as Error).message}`;
    return { at, failure, ...(run === undefined ? {} : { run }) };
  }
}

/** Repeats `next` in several lanes until it says that there is nothing left. */
async function inParallel(next: () => Promise<boolean>): Promise<void> {
  const lane = async (): Promise<void> => {
    while (await next());
  };
  await Promise.all(Array.from({ length: PARALLEL }, lane));
}

/** Research has the message, and foreman has no reply yet. */
function isAtWork(now: Traces): boolean {
  return now.research.store.sessions.length > 0 && callbacks(now) === 0 && !hasLogged(now, "call.read");
}

/** How often research has tried to call back. */
function callbacks({ research }: Traces): number {
  return research.executed.filter(({ kind }) => kind === "request").length;
}

function hasLogged({ foreman }: Traces, type: string): boolean {
  return foreman.store.sessions.some(({ log }) => log.some((entry) => entry.type === type));
}

function failuresOf(outcomes: readonly Outcome[]): string[] {
  return outcomes.flatMap(({ failure }) => failure ?? []);
}

function note(what: string, outcomes: readonly Outcome[]): void {
  const deaths = outcomes.filter(({ run }) => run?.death !== undefined);
  const slowest = Math.max(...deaths.map(({ run }) => run!.recoveryMs));
  report.push(`${what}: killed at ${deaths.length} points, slowest recovery ${Math.round(slowest)} ms`);
}
