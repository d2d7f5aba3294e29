import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { createServer, type AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";

/** Longest life of any process the bench starts: more than the longest row. */
const LIFE_MS = 180_000;
const STOP_MS = 5_000;

const reaper: ChildProcess = spawn(process.execPath, [join(import.meta.dirname, "reaper.ts")], {
  stdio: ["pipe", "ignore", "inherit"],
  detached: true,
});
reaper.unref();
(reaper.stdin as unknown as { unref(): void }).unref();
const note = (line: string): void => void reaper.stdin!.write(`${line}\n`);

export interface Program {
  readonly cwd: string;
  readonly args: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

/** A process of its own group, with whatever it starts itself. */
export interface Running {
  readonly pid: number;
  /** What it has written so far. */
  readonly output: () => string;
  /** Its exit code, or the name of the signal that ended it. */
  readonly exit: Promise<number | string>;
  readonly ended: () => boolean;
  /** SIGTERM to the group, SIGKILL when that takes too long. */
  stop(): Promise<void>;
  /** SIGKILL to the group. */
  kill(): Promise<void>;
}

/** Runs a script with this Node, and with nothing of the caller's environment that could reach a real model. */
export function run({ cwd, args, env = {} }: Program): Running {
  const { PATH, HOME, XDG_CACHE_HOME, npm_config_registry } = process.env;
  const inherited = Object.entries({ PATH, HOME, XDG_CACHE_HOME, npm_config_registry }).filter(([, value]) => value);
  const child = spawn(process.execPath, args, {
    cwd,
    detached: true,
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...Object.fromEntries(inherited), EVE_TELEMETRY_DISABLED: "1", DO_NOT_TRACK: "1", ...env },
  });
  const pid = child.pid!;
  note(`+p ${pid}`);
  let output = "";
  for (const pipe of [child.stdout, child.stderr]) {
    pipe.setEncoding("utf8").on("data", (text: string) => (output = (output + text).slice(-20_000)));
  }
  const life = setTimeout(() => signal(pid, "SIGKILL"), LIFE_MS);
  const exit = once(child, "exit").then(([code, name]) => {
    clearTimeout(life);
    // What it started itself must not stay behind.
    signal(pid, "SIGKILL");
    note(`-p ${pid}`);
    return (code ?? name) as number | string;
  });
  const ended = (): boolean => child.exitCode !== null || child.signalCode !== null;
  return {
    pid,
    output: () => output,
    exit,
    ended,
    stop: async () => {
      if (ended()) return;
      signal(pid, "SIGTERM");
      const insist = setTimeout(() => signal(pid, "SIGKILL"), STOP_MS);
      await exit;
      clearTimeout(insist);
    },
    kill: async () => {
      signal(pid, "SIGKILL");
      await exit;
    },
  };
}

/** Runs a program to its end. @throws Error with its output when it fails. */
export async function runToEnd(program: Program): Promise<void> {
  const running = run(program);
  const code = await running.exit;
  if (code !== 0) throw new Error(`${program.args.join(" ")} ended with ${code}:\n${running.output()}`);
}

/** A new folder that is gone when the bench is, however it ends. */
export function tempFolder(parent: string = tmpdir()): { readonly path: string; readonly remove: () => void } {
  mkdirSync(parent, { recursive: true });
  const path = mkdtempSync(join(parent, "bench-"));
  note(`+f ${path}`);
  const remove = (): void => {
    rmSync(path, { recursive: true, force: true, maxRetries: 5 });
    note(`-f ${path}`);
  };
  return { path, remove };
}

export async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return port;
}

/** Waits until `test` holds, asking every few milliseconds. */
export async function until(what: string, test: () => Promise<boolean>, timeoutMs: number): Promise<void> {
  const end = performance.now() + timeoutMs;
  while (!(await test())) {
    if (performance.now() > end) throw new Error(`Waited ${timeoutMs / 1000} s in vain until ${what}.`);
    await delay(3);
  }
}

function signal(group: number, name: NodeJS.Signals): void {
  try {
    process.kill(-group, name);
  } catch {
    // It has ended.
  }
}
