import { once } from "node:events";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import { compileMember } from "../compile/index.ts";
import { formatDiagnostic, type Diagnostic } from "../discover/diagnostic.ts";
import { messageOf } from "../errors.ts";
import { answerUnavailable, checkPortFree, type Address } from "./answer-unavailable.ts";
import type { Exit } from "./child.ts";
import { keepRunning } from "./keep-running.ts";
import { parseAddress } from "./parse-address.ts";
import { watchFiles } from "./watch-files.ts";

/**
 * `eve dev [--host 127.0.0.1] [--port 4000]`: runs the member of the working directory and follows its files. A
 * member that does not build, or that crashed, answers 503 with the reason; it is compiled again when a file
 * changes, and started again when it crashed.
 *
 * @returns the exit code, once asked to stop.
 * @throws AgentError `PORT_IN_USE`
 */
export async function dev(args: string[]): Promise<number> {
  const address = parseAddress(args);
  await checkPortFree(address);
  await supervise(process.cwd(), address, whenAskedToStop());
  return 0;
}

type Release = () => Promise<void>;

async function supervise(memberDir: string, address: Address, stopped: AbortSignal): Promise<void> {
  const name = `agents/${basename(memberDir)}`;
  let changed = new AbortController();
  const unwatch = watchFiles([memberDir, ...runtimeSources()], () => changed.abort());
  let release: Release = async () => {};

  while (!stopped.aborted) {
    changed = new AbortController();
    const next = AbortSignal.any([stopped, changed.signal]);
    // Until the new build is ready the old one answers.
    const build = await compile(memberDir);
    if (next.aborted) continue;
    await release();
    for (const line of build.lines) log(memberDir, line);
    release = build.ok
      ? run(memberDir, address)
      : await answerUnavailable(address, { error: `${name} does not build.`, ...build });
    if (!next.aborted) await once(next, "abort");
  }
  unwatch();
  await release();
}

interface Build {
  readonly ok: boolean;
  readonly diagnostics: readonly Diagnostic[];
  readonly lines: readonly string[];
}

async function compile(memberDir: string): Promise<Build> {
  try {
    const { ok, diagnostics } = await compileMember({ memberDir, mode: "dev" });
    return { ok, diagnostics, lines: diagnostics.map(formatDiagnostic) };
  } catch (error) {
    return { ok: false, diagnostics: [], lines: [messageOf(error)] };
  }
}

function run(memberDir: string, address: Address): Release {
  return keepRunning(join(memberDir, ".eve/dev/server.mjs"), {
    prefix: prefixOf(memberDir),
    env: { HOST: address.host, PORT: String(address.port), EVE_DEV: "1" },
    onCrash: async (exit, delayMs) => {
      const error = `agents/${basename(memberDir)} crashed (${describe(exit)}) and is started again in ${delayMs} ms.`;
      log(memberDir, error);
      try {
        return await answerUnavailable(address, { error, diagnostics: [], lines: ["Its log says why."] });
      } catch {
        // Somebody else took the port: the member's own start says so.
        return async () => {};
      }
    },
  });
}

function describe(exit: Exit): string {
  return typeof exit === "number" ? `exit code ${exit}` : exit;
}

function log(memberDir: string, line: string): void {
  process.stderr.write(`${prefixOf(memberDir)}${line}\n`);
}

/** The platform's CLI puts the name of the service before every line by itself. */
function prefixOf(memberDir: string): string {
  return isUnderPlatform() ? "" : `[${basename(memberDir)}] `;
}

function isUnderPlatform(): boolean {
  return process.env.__VERCEL_DEV_RUNNING !== undefined;
}

/** This package's own sources, while it is developed in the workspace. */
function runtimeSources(): string[] {
  const sources = fileURLToPath(new URL("..", import.meta.url));
  return sources.includes("node_modules") ? [] : [sources];
}

function whenAskedToStop(): AbortSignal {
  const stop = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.once(signal, () => stop.abort());
  if (isUnderPlatform() || process.env.EVE_NODE_TRIED !== undefined) {
    const parent = process.ppid;
    // The platform's CLI starts services as groups of their own, and the command line under an old Node passes no
    // signal on: killed, either would leave this process behind.
    setInterval(() => process.ppid !== parent && stop.abort(), 500).unref();
  }
  return stop.signal;
}
