/**
 * `pnpm test`: builds the members, runs every static check, the unit tests and the tests of the whole workspace, and
 * ends with `N passed, N failed`. A build or a check that fails counts as one failed test.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { writePeerStamps } from "./build-peers.ts";
import { printFailures, run, runChecks } from "./run-checks.ts";

const ROOT = join(import.meta.dirname, "..");

interface Count {
  readonly passed: number;
  readonly failed: number;
}

writePeerStamps(ROOT);
const build = await run("build", "turbo", ["run", "build", "--continue", "--output-logs=errors-only", "--ui=stream"]);
const checks = [build, ...(await runChecks())];
printFailures(checks);

const counts: Count[] = checks.map(({ ok }) => ({ passed: 0, failed: ok ? 0 : 1 }));
for (const project of ["unit", "workspace"]) counts.push(await runTests(project));

const passed = counts.reduce((sum, count) => sum + count.passed, 0);
const failed = counts.reduce((sum, count) => sum + count.failed, 0);
process.stdout.write(`${passed} passed, ${failed} failed\n`);
process.exitCode = failed === 0 && passed > 0 ? 0 : 1;

/** Runs the tests of one project of vitest.config.ts, and counts them. */
async function runTests(project: string): Promise<Count> {
  const folder = mkdtempSync(join(tmpdir(), "test-report-"));
  const report = join(folder, "report.json");
  try {
    const vitest = join(ROOT, "node_modules/vitest/vitest.mjs");
    const args = ["run", "--project", project, "--reporter=default", "--reporter=json", `--outputFile.json=${report}`];
    const child = spawn(process.execPath, [vitest, ...args, ...process.argv.slice(2)], { cwd: ROOT, stdio: "inherit" });
    const [code] = (await once(child, "exit")) as [number | null];
    return count(report, code);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

interface Report {
  readonly numPassedTests: number;
  readonly numFailedTests: number;
  readonly testResults: readonly {
    readonly status: string;
    readonly assertionResults: readonly { status: string }[];
  }[];
}

function count(path: string, code: number | null): Count {
  let report: Report;
  try {
    report = JSON.parse(readFileSync(path, "utf8")) as Report;
  } catch {
    return { passed: 0, failed: 1 };
  }
  // A file that does not load has no failed test.
  const broken = report.testResults.filter(
    ({ status, assertionResults }) => status === "failed" && !assertionResults.some((test) => test.status === "failed"),
  ).length;
  const failed = report.numFailedTests + broken;
  // An error outside of every test fails the run, too.
  return { passed: report.numPassedTests, failed: failed === 0 && code !== 0 ? 1 : failed };
}
