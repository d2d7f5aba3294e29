import { spawn } from "node:child_process";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";

export interface CheckResult {
  readonly name: string;
  readonly ok: boolean;
  readonly output: string;
}

const ROOT = join(import.meta.dirname, "..");

/** What `pnpm check` runs, in this order. */
const CHECKS: readonly (readonly [name: string, command: string, ...args: string[]])[] = [
  ["types", "turbo", "run", "check", "--continue", "--output-logs=errors-only", "--ui=stream"],
  ["types of scripts", "tsc", "-p", "scripts"],
  ["types of test", "tsc", "-p", "test"],
  ["lint", "oxlint", "--deny-warnings"],
  ["format", "oxfmt", "--check"],
  ["import directions", "depcruise", "--config", ".dependency-cruiser.mjs", "packages/runtime/src"],
  ["unused code", "knip", "--no-progress"],
];

/** Runs every check, one after the other: two cores are what a small machine has. */
export async function runChecks(): Promise<CheckResult[]> {
  const results: CheckResult[] = [];
  for (const [name, command, ...args] of CHECKS) results.push(await run(name, command, args));
  return results;
}

/** Runs a program of node_modules/.bin and prints one line about it. */
export async function run(name: string, command: string, args: readonly string[]): Promise<CheckResult> {
  const started = performance.now();
  const child = spawn(command, args, {
    cwd: ROOT,
    stdio: ["ignore", "pipe", "pipe"],
    env: {
      ...process.env,
      PATH: `${join(ROOT, "node_modules/.bin")}:${process.env.PATH ?? ""}`,
      TURBO_TELEMETRY_DISABLED: "1",
      DO_NOT_TRACK: "1",
    },
  });
  const failure = new Promise<string>((resolve) => child.once("error", (error) => resolve(error.message)));
  const code = new Promise<number | null>((resolve) => child.once("close", resolve));
  const [stdout, stderr] = await Promise.all([buffer(child.stdout), buffer(child.stderr)]);
  const ok = (await Promise.race([code, failure])) === 0;
  const seconds = ((performance.now() - started) / 1000).toFixed(1);
  process.stdout.write(`${ok ? "ok    " : "FAILED"} ${name} (${seconds} s)\n`);
  const output = `${stdout.toString()}${stderr.toString()}`;
  return { name, ok, output: output === "" && !ok ? await failureOf(failure, command) : output };
}

async function failureOf(failure: Promise<string>, command: string): Promise<string> {
  return Promise.race([failure, Promise.resolve(`${command} failed and said nothing.\n`)]);
}

export function printFailures(results: readonly CheckResult[]): void {
  for (const { name, ok, output } of results) {
    if (!ok) process.stdout.write(`\n── ${name} ${"─".repeat(Math.max(3, 72 - name.length))}\n${output.trimEnd()}\n\n`);
  }
}
