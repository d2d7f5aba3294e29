import { once } from "node:events";
import { basename, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { compileMember, type CompileResult } from "../../compile/index.ts";
import { discoverWorkspace, formatDiagnostic } from "../../discover/index.ts";
import { messageOf } from "../../errors.ts";
import type { Address } from "../parse-address.ts";
import { createBuildFolders } from "./build-folders.ts";
import { createDevEnv, type DevEnv } from "./dev-env.ts";
import { openGate } from "./gate.ts";
import { toGateState } from "./gate-state.ts";
import type { Limits } from "./parse-limits.ts";
import { isUnderPlatform, toOrigin } from "./platform.ts";
import { createServingChild, type ChildState } from "./serving-child.ts";
import type { Unavailable } from "./unavailable.ts";
import { watchFiles } from "./watch-files.ts";

export interface SuperviseOptions {
  readonly memberDir: string;
  readonly address: Address;
  /** Flags of Node for the process that serves. */
  readonly execArgv: readonly string[];
  readonly limits: Limits;
  readonly stopped: AbortSignal;
  readonly log: (line: string) => void;
  /** Told once where the API is, when the member answers for the first time. */
  readonly onReady: (base: string) => void;
}

interface Status {
  /** Why the last build is not in use. */
  broken?: Unavailable;
  child: ChildState;
  /** It has answered before. */
  ready: boolean;
  /** Its process did not start, which was said. */
  failing: boolean;
  /** How many builds are being taken up. */
  loading: number;
  /** The last result of the compiler: what became of those before it is of no interest any more. */
  last?: Result;
}

/**
 * Owns the address of a member until `stopped`: compiles it, has a child process serve it, and gives every later build
 * to that process without ending it.
 *
 * @throws AgentError `PORT_IN_USE`
 */
export async function supervise(options: SuperviseOptions): Promise<void> {
  const { memberDir, address, execArgv, limits, stopped, log } = options;
  const name = basename(memberDir);
  const status: Status = { child: { kind: "none" }, ready: false, failing: false, loading: 0 };
  const gate = await openGate(address, toGateState(name, undefined, status.child));
  const show = (): void => gate.set(toGateState(name, status.broken, status.child));
  const folders = createBuildFolders(memberDir);
  const child = createServingChild({
    limits,
    start: () => ({ env: toEnv(memberDir, address), execArgv }),
    // What Node adds to the address of its debugger.
    onLine: (line) => line.startsWith("For help, see: https://nodejs.org/") || log(line),
    onState: (state) => {
      status.child = state;
      show();
      if (state.kind !== "listening") return;
      folders.removeBefore(state.folder);
      // A build that is taken up says so itself.
      if (status.failing && status.loading === 0) announce(status.ready ? "runs again" : "ready");
      status.failing = false;
    },
    onCrash: (error, served) => {
      status.failing ||= !served;
      log(
        served ? `${name} crashed and starts again. ${error}` : `${name} does not start, and is tried again. ${error}`,
      );
    },
    onRenew: (why, waits) => {
      const when = ` when no model and no tool works, at the latest in ${limits.patienceMs / 1000} s`;
      log(`${name} starts again${waits ? when : ""}: ${why}.`);
    },
  });

  const announce = (what: string): void => {
    const base = `${toOrigin(process.env, address)}/eve/${name}/v1`;
    // Below the platform's CLI nobody calls this port, but the CLI's.
    log(`${name} ${what}${status.ready || isUnderPlatform() ? "" : `: ${base}`}`);
    if (!status.ready) options.onReady(base);
    status.ready = true;
  };

  const takeUp = async (result: Result, since: number, fresh: boolean): Promise<void> => {
    for (const warning of result.warnings) log(`warning ${formatDiagnostic(warning)}`);
    for (const diagnostic of result.diagnostics) log(formatDiagnostic(diagnostic));
    const wasBroken = status.broken !== undefined;
    status.last = result;
    delete status.broken;
    if (result.ok) {
      const folder = folders.keep(result.manifest.buildId);
      // It may wait for what runs, and what is there can answer meanwhile.
      if (fresh) show();
      status.loading++;
      const outcome = await child.load(folder, { fresh });
      status.loading--;
      if (status.last !== result || stopped.aborted) return;
      if (outcome.how !== "failed") {
        const seconds = ((performance.now() - since) / 1000).toFixed(1);
        announce(`${verb(wasBroken, status.ready)} in ${seconds} s`);
      } else if (outcome.kept) {
        status.broken = { error: `agents/${name} does not load. ${outcome.error}`, diagnostics: [] };
      }
    } else {
      status.broken = toUnavailable(name, result);
    }
    if (status.broken !== undefined) log(status.broken.error);
    show();
  };

  // Its own sources, while they are developed: only a new process takes them up.
  const unwatchRuntime = watchFiles(runtimeSources(), () =>
    child.restart("eve changed (a change of its compiler needs a new `eve dev`)"),
  );
  let since = performance.now();
  // An installation may be what a broken member waits for.
  const env = createDevEnv(memberDir, discoverWorkspace(memberDir)?.root, process.env);
  const own = [memberDir, join(memberDir, "node_modules"), ...env.files];
  /** The variables changed, and no process has them yet. */
  let stale = false;
  let paths: readonly string[] = own;
  try {
    while (!stopped.aborted) {
      const change = new AbortController();
      const onChange = (time: number): void => change.abort(time);
      const watches = [watchFiles(paths, onChange)];
      const next = AbortSignal.any([stopped, change.signal]);
      stale = refresh(env, log) || stale;
      const result = await compile(memberDir, folders.next);
      // A change in the meantime makes another build at once.
      if (!next.aborted) {
        // A process that has to end first may take its time, for which the next change does not wait.
        await Promise.race([takeUp(result, since, stale), aborted(next)]);
        stale &&= !result.ok;
      }
      const added = result.outside.filter((path) => !paths.includes(path));
      // Beside the first: a change that it has seen, but not reported yet, must not be lost.
      if (added.length > 0) watches.push(watchFiles(added, onChange));
      paths = [...paths, ...added];
      await aborted(next);
      for (const unwatch of watches) unwatch();
      since = Number(change.signal.reason);
    }
  } finally {
    unwatchRuntime();
    await child.stop();
    folders.remove();
    await gate.close();
  }
}

async function aborted(signal: AbortSignal): Promise<void> {
  if (!signal.aborted) await once(signal, "abort");
}

function verb(wasBroken: boolean, ready: boolean): string {
  if (!ready) return "ready";
  return wasBroken ? "builds again, updated" : "updated";
}

type Result = CompileResult | Failure;

/** A file that can not be read leaves the variables as they are. */
function refresh(env: DevEnv, log: (line: string) => void): boolean {
  try {
    return env.refresh();
  } catch (error) {
    log(messageOf(error));
    return false;
  }
}

async function compile(memberDir: string, outDir: string): Promise<Result> {
  try {
    return await compileMember({ memberDir, outDir, mode: "dev" });
  } catch (error) {
    return { ok: false, error: messageOf(error), diagnostics: [], warnings: [], outside: [] };
  }
}

/** The compiler itself failed. */
type Failure = Extract<CompileResult, { ok: false }> & { readonly error: string };

function toUnavailable(name: string, result: Extract<Result, { ok: false }>): Unavailable {
  const reason = "error" in result ? ` ${result.error}` : "";
  return { error: `agents/${name} does not build.${reason}`, diagnostics: result.diagnostics };
}

function toEnv(memberDir: string, address: Address): NodeJS.ProcessEnv {
  return {
    ...process.env,
    EVE_DEV: "1",
    HOST: address.host,
    PORT: String(address.port),
    EVE_ORIGIN: toOrigin(process.env, address),
    EVE_STORE: resolve(memberDir, process.env.EVE_STORE ?? ".eve/store"),
  };
}

/** This package's own sources, while it is developed in the workspace. */
function runtimeSources(): string[] {
  const sources = fileURLToPath(new URL("../..", import.meta.url));
  return sources.includes("node_modules") ? [] : [sources];
}
