import { fork, type ChildProcess } from "node:child_process";
import { createInterface } from "node:readline";
import type { Readable, Writable } from "node:stream";

export interface ChildOptions {
  readonly args?: readonly string[];
  readonly env?: NodeJS.ProcessEnv;
  /** Put before every line it prints; empty for none. */
  readonly prefix: string;
}

/** How a process ended: its exit code, or the signal that ended it. */
export type Exit = number | NodeJS.Signals;

/** Time a child has to end by itself before it is killed; less than what the platform's CLI gives the supervisor. */
const GRACE_MS = 1500;

/** Starts a Node process that ends when this one is gone, whatever ended it. */
export function startChild(module: string, options: ChildOptions): ChildProcess {
  const child = fork(module, options.args ?? [], {
    execArgv: ["--enable-source-maps", "--import", import.meta.resolve("./exit-with-parent.ts")],
    env: { ...process.env, ...options.env },
    stdio: ["ignore", "pipe", "pipe", "ipc"],
  });
  forward(child.stdout!, process.stdout, options.prefix);
  forward(child.stderr!, process.stderr, options.prefix);
  return child;
}

export function exitOf(child: ChildProcess): Promise<Exit> {
  const known = child.exitCode ?? child.signalCode;
  if (known !== null) return Promise.resolve(known);
  return new Promise((resolve) => {
    child.once("exit", (code, signal) => resolve(code ?? signal ?? 1));
    child.once("error", () => resolve(1));
  });
}

/** Asks the child to end and waits until it did. */
export async function stopChild(child: ChildProcess): Promise<void> {
  child.kill("SIGTERM");
  const timer = setTimeout(() => child.kill("SIGKILL"), GRACE_MS);
  await exitOf(child);
  clearTimeout(timer);
}

function forward(from: Readable, to: Writable, prefix: string): void {
  if (prefix === "") from.pipe(to, { end: false });
  else createInterface(from).on("line", (line) => to.write(`${prefix}${line}\n`));
}
