/**
 * `pnpm build [--json] [--prod | --target <name>]`: compiles every member (through turbo's cache), then runs the real
 * `vercel build`, offline, unless nothing changed that it reads. The result is `.vercel/output` with one function per
 * member, each with all that it needs: `vercel deploy --prebuilt` uploads it.
 */
import { join } from "node:path";
import { buildMembers } from "./build-members.ts";
import { buildOutput, readConfig } from "./build-output.ts";
import { printSummary, readFunctions } from "./build-summary.ts";

const ROOT = join(import.meta.dirname, "..");

const args = process.argv.slice(2).filter((arg) => arg !== "--");
const isJson = args.includes("--json");
const platformArgs = args.filter((arg) => arg !== "--json");
const started = performance.now();

try {
  process.exitCode = await main();
} catch (error) {
  const { code, message, fix } = error as { code?: string; message: string; fix?: string };
  process.stderr.write([`${code ? `${code} ` : ""}${message}`, ...(fix ? [fix] : []), ""].join("\n"));
  process.exitCode = 1;
}

async function main(): Promise<number> {
  const config = await readConfig(ROOT);
  // Only the result is for a program that asked for JSON.
  const progress = isJson ? process.stderr : process.stdout;
  const { ok, tasks } = await buildMembers(ROOT, progress);
  if (!ok) return fail(tasks);
  const output = await buildOutput(ROOT, { config, tasks, args: platformArgs, progress });
  if (output === "failed") return fail(tasks);
  const seconds = (performance.now() - started) / 1000;
  printSummary({ functions: readFunctions(ROOT, config, tasks), output, seconds }, isJson);
  return 0;
}

function fail(tasks: Awaited<ReturnType<typeof buildMembers>>["tasks"]): number {
  if (isJson) process.stdout.write(`${JSON.stringify({ ok: false, failed: failedOf(tasks) })}\n`);
  else process.stderr.write(`Not built: ${failedOf(tasks).join(", ") || "see above"}.\n`);
  return 1;
}

function failedOf(tasks: Awaited<ReturnType<typeof buildMembers>>["tasks"]): string[] {
  return tasks.filter((task) => !task.ok).map(({ member }) => member);
}
