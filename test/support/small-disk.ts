import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { closeSync, mkdirSync, openSync, rmSync, writeSync } from "node:fs";
import { join } from "node:path";
import { freePort } from "./free-port.ts";
import type { Env } from "./member.ts";
import { tempFolder } from "./temp-folder.ts";
import { until } from "./until.ts";

const PAGE = 4_096;

/** A built member whose store is on a disk of its own, of eight megabytes. */
export interface MemberOnSmallDisk extends AsyncDisposable {
  readonly api: string;
  readonly log: string;
  /** Takes all space that is left. */
  fill(): void;
  /** Gives back what `fill` took. */
  free(): void;
}

/** Why there can be no such disk here; `undefined` when there can. */
export function whyNoSmallDisk(): string | undefined {
  using folder = tempFolder();
  const { error, stderr, status } = spawnSync("unshare", mountArgs(folder.path, ["true"]), { encoding: "utf8" });
  if (status === 0) return undefined;
  return `unshare can not mount a tmpfs here: ${error?.message ?? stderr.trim()}`;
}

/** The disk is mounted for this process only, and gone with it. */
export async function startOnSmallDisk(name: string, server: string, env: Env = {}): Promise<MemberOnSmallDisk> {
  const folder = tempFolder();
  const disk = join(folder.path, "disk");
  mkdirSync(disk);
  const port = await freePort();
  const api = `http://127.0.0.1:${port}/eve/${name}/v1`;
  const variables = { PORT: String(port), HOST: "127.0.0.1", EVE_STORE: join(disk, "store"), EVE_DEV: "1", ...env };
  const child = spawn("unshare", mountArgs(disk, [process.execPath, server]), {
    env: { PATH: process.env.PATH, ...variables },
    stdio: ["ignore", "ignore", "pipe"],
  });
  let log = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => (log += text));
  // What another process has mounted is seen through its entry in the process table.
  const ballast = join(`/proc/${child.pid}/root`, disk, "ballast");
  const stop = async (): Promise<void> => {
    const ended = child.exitCode === null && child.signalCode === null ? once(child, "exit") : undefined;
    child.kill("SIGKILL");
    await ended;
    folder[Symbol.dispose]();
  };
  try {
    await until(
      `${name} answers; it wrote: ${log}`,
      async () => (await fetch(`${api}/health`).catch(() => undefined))?.ok,
    );
  } catch (error) {
    await stop();
    throw error;
  }
  return {
    api,
    get log() {
      return log;
    },
    fill: () => fillDisk(ballast),
    free: () => rmSync(ballast),
    [Symbol.asyncDispose]: stop,
  };
}

function mountArgs(folder: string, command: readonly string[]): string[] {
  const script = 'mount -t tmpfs -o size=8m tmpfs "$0" && exec "$@"';
  return ["--map-root-user", "--mount", "sh", "-c", script, folder, ...command];
}

function fillDisk(file: string): void {
  const descriptor = openSync(file, "w");
  try {
    for (;;) writeSync(descriptor, Buffer.alloc(PAGE));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOSPC") throw error;
  } finally {
    closeSync(descriptor);
  }
}
