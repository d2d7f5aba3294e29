import { spawn } from "node:child_process";
import { once } from "node:events";
import { copyFileSync, cpSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "./build-workspace.ts";
import { freePort } from "./free-port.ts";
import type { Env } from "./member.ts";
import { tempFolder } from "./temp-folder.ts";
import { until } from "./until.ts";

/** A built function in a folder where there is nothing else, as a process on plain Node. */
export interface FunctionProcess extends AsyncDisposable {
  readonly origin: string;
  /** `<origin>/eve/<name>/v1` */
  readonly api: string;
  /** From the start of the process to the first answer of `health`. */
  readonly bootMs: number;
  /** Where it may write what is temporary. */
  readonly temporary: string;
}

export interface FunctionOptions {
  readonly name: string;
  /** Folder of the built function, which is copied. */
  readonly source: string;
  readonly env?: Env;
}

export async function startFunction({ name, source, env = {} }: FunctionOptions): Promise<FunctionProcess> {
  const folder = tempFolder();
  const code = join(folder.path, "function");
  const temporary = join(folder.path, "tmp");
  const launcher = join(folder.path, "launch.mjs");
  cpSync(source, code, { recursive: true });
  copyFileSync(join(ROOT, "test/fixtures/launch-function.mjs"), launcher);
  mkdirSync(temporary);

  const port = await freePort();
  const origin = `http://127.0.0.1:${port}`;
  const api = `${origin}/eve/${name}/v1`;
  const started = performance.now();
  const child = spawn(process.execPath, [launcher, code, String(port)], {
    cwd: code,
    env: { TMPDIR: temporary, EVE_DEV: "1", EVE_ORIGIN: origin, ...env },
    stdio: ["ignore", "ignore", "pipe", "ipc"],
  });
  let log = "";
  child.stderr!.setEncoding("utf8").on("data", (text: string) => (log += text));
  const stop = async (): Promise<void> => {
    const ended = child.exitCode === null && child.signalCode === null ? once(child, "exit") : undefined;
    child.kill("SIGKILL");
    await ended;
    folder[Symbol.dispose]();
  };
  try {
    await until(`${name} answers; it wrote: ${log}`, () => isHealthy(api), { timeoutMs: 15_000 });
  } catch (error) {
    await stop();
    throw error;
  }
  return { origin, api, bootMs: performance.now() - started, temporary, [Symbol.asyncDispose]: stop };
}

async function isHealthy(api: string): Promise<boolean> {
  try {
    return (await fetch(`${api}/health`, { signal: AbortSignal.timeout(2_000) })).ok;
  } catch {
    return false;
  }
}
