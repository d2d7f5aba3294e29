import { fork, type ChildProcess } from "node:child_process";
import { createInterface } from "node:readline";

export interface ChildOptions {
  readonly env: NodeJS.ProcessEnv;
  /** Flags of Node besides those that every child has. */
  readonly execArgv?: readonly string[];
  /** Told of every line it prints. */
  readonly onLine: (line: string) => void;
}

/** How a process ended: its exit code, or the signal that ended it. */
export type Exit = number | NodeJS.Signals;

/** Time a child has to end by itself before it is killed; less than what the platform's CLI gives the supervisor. */
const GRACE_MS = 1500;

/** Starts a Node process that ends when this one is gone, whatever ended it. */
export function startChild(module: string, { env, execArgv = [], onLine }: ChildOptions): ChildProcess {
  const child = fork(module, [], {
    execArgv: [
      "--enable-source-maps",
      "--disable-warning=ExperimentalWarning",
      `--import=${import.meta.resolve("../exit-with-parent.ts")}`,
      ...execArgv,
    ],
    env,
    stdio: ["ignore", "pipe", "pipe", "ipc"],
  });
  for (const output of [child.stdout!, child.stderr!]) createInterface(output).on("line", onLine);
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
