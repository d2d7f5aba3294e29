import type { ChildProcess } from "node:child_process";
import { fileURLToPath } from "node:url";
import type { LoadBuild, ServingError, ServingMessage } from "../../protocol/dev-messages.ts";
import { exitOf, startChild, stopChild, type ChildOptions, type Exit } from "./child-process.ts";

export type ChildState =
  | { readonly kind: "none" }
  | { readonly kind: "starting" }
  | { readonly kind: "listening"; readonly port: number }
  /** It ended before it listened, and is started again after a while or with the next build. */
  | { readonly kind: "crashed"; readonly error: string };

export interface ServingChildOptions {
  /** Asked at every start. */
  readonly start: () => Omit<ChildOptions, "onLine">;
  readonly onLine: (line: string) => void;
  readonly onState: (state: ChildState) => void;
  /** Told when it ended without being asked to; of the same failure to start only once. */
  readonly onCrash: (error: string, served: boolean) => void;
}

export interface ServingChild {
  /** Takes up a build, and starts the process when there is none. `fresh`: a new one in any case. */
  load(folder: string, options?: { readonly fresh?: boolean }): Promise<LoadOutcome>;
  /** Ends the process; it starts again with the last build that was loaded. */
  restart(): Promise<void>;
  stop(): Promise<void>;
}

export type LoadOutcome =
  | { readonly how: "started" | "swapped" }
  /** `kept`: the build before goes on. Else the process is tried again, and its state says how that goes. */
  | { readonly how: "failed"; readonly error: string; readonly kept: boolean };

const FIRST_DELAY_MS = 100;
const LONGEST_DELAY_MS = 5000;
/** A process that lived this long did not crash because of how it starts. */
const HEALTHY_MS = 10_000;
/** Modules of old builds can not be unloaded: a process is replaced after so many, or when it has grown so large. */
const MAX_SWAPS = 50;
const MAX_RSS = 1_000_000_000;

/** Keeps the process that serves the member running, with the build that was loaded last. */
export function createServingChild(options: ServingChildOptions): ServingChild {
  let current: { readonly process: ChildProcess; ready: boolean; swaps: number; rss: number } | undefined;
  let folder: string | undefined;
  let delay = FIRST_DELAY_MS;
  let timer: NodeJS.Timeout | undefined;
  let stopped = false;
  let lastError: string | undefined;

  const start = async (): Promise<LoadOutcome> => {
    clearTimeout(timer);
    options.onState({ kind: "starting" });
    const process = startChild(ENTRY, { ...options.start(), onLine: options.onLine });
    const child = { process, ready: false, swaps: 0, rss: 0 };
    current = child;
    const began = performance.now();
    let why: ServingError | undefined;
    process.on("message", (message: ServingMessage) => {
      if (message.type === "crashed" || (message.type === "failed" && !child.ready)) why = message.error;
    });
    void exitOf(process).then((exit) => {
      if (current !== child) return;
      current = undefined;
      if (performance.now() - began > HEALTHY_MS) delay = FIRST_DELAY_MS;
      const error = why === undefined ? describe(exit) : toText(why);
      if (child.ready || error !== lastError) options.onCrash(error, child.ready);
      lastError = error;
      // A request waits for a process that ended while it served, but not for one that never could.
      options.onState(child.ready ? { kind: "starting" } : { kind: "crashed", error });
      timer = setTimeout(() => void start(), delay);
      delay = Math.min(delay * 2, LONGEST_DELAY_MS);
    });
    const reply = await ask(process, { type: "load", folder: folder! });
    if (reply?.type === "listening") {
      child.ready = true;
      lastError = undefined;
      options.onState({ kind: "listening", port: reply.port });
      return { how: "started" };
    }
    return { how: "failed", error: why === undefined ? "The process ended." : toText(why), kept: false };
  };

  const end = async (): Promise<void> => {
    clearTimeout(timer);
    const child = current;
    current = undefined;
    if (child !== undefined) await stopChild(child.process);
  };

  const load = async (next: string, fresh: boolean): Promise<LoadOutcome> => {
    if (stopped) return { how: "failed", error: "It was stopped.", kept: false };
    const previous = folder;
    folder = next;
    const child = current;
    if (child === undefined || !child.ready || fresh || child.swaps >= MAX_SWAPS || child.rss > MAX_RSS) {
      return replace();
    }
    child.swaps++;
    const reply = await ask(child.process, { type: "load", folder: next });
    if (reply?.type === "swapped") {
      child.rss = reply.rss;
      return { how: "swapped" };
    }
    folder = previous;
    const error = reply?.type === "failed" ? toText(reply.error) : "The process ended.";
    return { how: "failed", error, kept: true };
  };

  const replace = async (): Promise<LoadOutcome> => {
    options.onState({ kind: "starting" });
    await end();
    return stopped ? { how: "failed", error: "It was stopped.", kept: false } : start();
  };

  // One after the other: a restart in the middle of a swap would lose the new build.
  let queue: Promise<unknown> = Promise.resolve();
  const enqueue = <T>(task: () => Promise<T>): Promise<T> => {
    const result = queue.then(task);
    queue = result.catch(() => {});
    return result;
  };

  return {
    load: (next, { fresh = false } = {}) => enqueue(() => load(next, fresh)),
    restart: () =>
      enqueue(async () => {
        if (folder !== undefined && !stopped) await replace();
      }),
    stop: async () => {
      stopped = true;
      await end();
    },
  };
}

const ENTRY = fileURLToPath(new URL("../../http/serve-dev.ts", import.meta.url));

/** Sends a build and waits for what becomes of it, or until the process is gone. */
function ask(child: ChildProcess, message: LoadBuild): Promise<ServingMessage | undefined> {
  return new Promise((resolve) => {
    const done = (reply: ServingMessage | undefined): void => {
      child.off("message", done).off("exit", gone);
      resolve(reply);
    };
    const gone = (): void => done(undefined);
    child.on("message", done).on("exit", gone);
    // Without a callback a child that is gone raises an "error" event; "exit" says the same.
    child.send(message, () => {});
  });
}

function toText({ code, message, fix }: ServingError): string {
  return `${code === undefined ? "" : `${code} `}${message}${fix === undefined ? "" : ` — ${fix}`}`;
}

function describe(exit: Exit): string {
  return typeof exit === "number" ? `It ended with exit code ${exit}.` : `It was ended by ${exit}.`;
}
