import type { ChildProcess } from "node:child_process";
import { fileURLToPath } from "node:url";
import type { ServingError, ServingMessage } from "../../protocol/dev-messages.ts";
import { askToLoad, askToSettle, within, type Loaded } from "./ask-child.ts";
import { exitOf, startChild, stopChild, type ChildOptions, type Exit } from "./child-process.ts";
import type { Limits } from "./parse-limits.ts";

export type ChildState =
  | { readonly kind: "none" }
  | { readonly kind: "starting" }
  /** `folder`: the build that it was started with. */
  | { readonly kind: "listening"; readonly port: number; readonly folder: string }
  /** It ended before it listened, and is started again after a while or with the next build. */
  | { readonly kind: "crashed"; readonly error: string };

export interface ServingChildOptions {
  readonly limits: Limits;
  /** Asked at every start. */
  readonly start: () => Omit<ChildOptions, "onLine">;
  readonly onLine: (line: string) => void;
  readonly onState: (state: ChildState) => void;
  /** Told when it ended without being asked to; of the same failure to start only once. */
  readonly onCrash: (error: string, served: boolean) => void;
  /** Told when another process is to take its place, and whether that waits for what it works on. */
  readonly onRenew: (why: string, waits: boolean) => void;
}

export interface ServingChild {
  /**
   * Takes up a build, and starts the process when there is none. `fresh`: a new one in any case, once this one works
   * on nothing.
   */
  load(folder: string, options?: { readonly fresh?: boolean }): Promise<LoadOutcome>;
  /** Replaces the process, once it works on nothing, by one with the last build that was loaded. */
  restart(why: string): void;
  stop(): Promise<void>;
}

export type LoadOutcome =
  | { readonly how: "started" | "swapped" }
  /** `kept`: the build before goes on. Else the process is tried again, and its state says how that goes. */
  | { readonly how: "failed"; readonly error: string; readonly kept: boolean };

interface Child {
  readonly process: ChildProcess;
  ready: boolean;
  swaps: number;
  /** What it was started with has changed: it takes up no build any more. */
  outdated: boolean;
  /** Another process is about to take its place. */
  renewal?: Promise<LoadOutcome>;
}

const FIRST_DELAY_MS = 100;
const LONGEST_DELAY_MS = 5000;
/** A process that lived this long did not crash because of how it starts. */
const HEALTHY_MS = 10_000;
/** A wait that is shorter is not worth a word. */
const UNNOTICED_MS = 500;
/** A process that takes up a build for longer than this does something else. */
const SLOW_MS = 5000;
/** How long requests are held at the port, at most, for what came just before them. */
const HOLD_MS = 3000;
const STOPPED: LoadOutcome = { how: "failed", error: "It was stopped.", kept: false };
const ENDED: LoadOutcome = { how: "failed", error: "The process ended.", kept: false };

/** Keeps the process that serves the member running, with the build that was loaded last. */
export function createServingChild(options: ServingChildOptions): ServingChild {
  const { limits, onState } = options;
  let current: Child | undefined;
  let folder: string | undefined;
  let delay = FIRST_DELAY_MS;
  let timer: NodeJS.Timeout | undefined;
  let stopped = false;
  let lastError: string | undefined;

  const start = async (): Promise<LoadOutcome> => {
    clearTimeout(timer);
    onState({ kind: "starting" });
    const process = startChild(ENTRY, { ...options.start(), onLine: options.onLine });
    const child: Child = { process, ready: false, swaps: 0, outdated: false };
    const build = folder!;
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
      onState(child.ready ? { kind: "starting" } : { kind: "crashed", error });
      timer = setTimeout(() => void start(), delay);
      delay = Math.min(delay * 2, LONGEST_DELAY_MS);
    });
    const reply = await askToLoad(process, build);
    if (reply?.type === "listening") {
      child.ready = true;
      lastError = undefined;
      onState({ kind: "listening", port: reply.port, folder: build });
      return { how: "started" };
    }
    return why === undefined ? ENDED : { how: "failed", error: toText(why), kept: false };
  };

  const end = async (): Promise<void> => {
    clearTimeout(timer);
    const child = current;
    current = undefined;
    if (child !== undefined) await stopChild(child.process);
  };

  const replace = async (): Promise<LoadOutcome> => {
    onState({ kind: "starting" });
    await end();
    return stopped ? STOPPED : start();
  };

  // One after the other: a restart in the middle of a swap would lose the new build.
  let queue: Promise<unknown> = Promise.resolve();
  const enqueue = <T>(task: () => Promise<T>): Promise<T> => {
    const result = queue.then(task);
    queue = result.catch(() => {});
    return result;
  };

  /** Builds that come while it waits are not kept waiting: only the replacement itself is in the queue. */
  const renew = (child: Child, why: string): Promise<LoadOutcome> => {
    child.renewal ??= (async () => {
      const { patienceMs } = limits;
      let quiet = await askToSettle(child.process, "work", Math.min(UNNOTICED_MS, patienceMs));
      if (current === child) options.onRenew(why, !quiet);
      quiet ||= await askToSettle(child.process, "work", patienceMs);
      return enqueue(async () => {
        // It crashed, and another one has what was to come with this one.
        if (current !== child) return current?.ready === true ? { how: "started" } : ENDED;
        onState({ kind: "starting" });
        await askToSettle(child.process, quiet ? "work" : "requests", HOLD_MS);
        return replace();
      });
    })();
    return child.renewal;
  };

  const swap = async ({ process }: Child, next: string): Promise<Loaded | "late" | undefined> => {
    const asked = askToLoad(process, next);
    const soon = await within(asked, SLOW_MS, "late" as const);
    if (soon !== "late") return soon;
    // As in a loop without an end, which the build may be the repair of.
    options.onRenew("it does not answer", true);
    return within(asked, limits.patienceMs, "late" as const);
  };

  /** `renewal` stands for what becomes of it later: the queue must not wait for that. */
  const load = async (next: string, fresh: boolean): Promise<LoadOutcome | { renewal: Promise<LoadOutcome> }> => {
    if (stopped) return STOPPED;
    const previous = folder;
    folder = next;
    const child = current;
    if (child === undefined || !child.ready) return replace();
    if (fresh || child.outdated) {
      child.outdated = true;
      return { renewal: renew(child, "its variables changed") };
    }
    child.swaps++;
    const reply = await swap(child, next);
    if (reply === "late") return replace();
    if (reply?.type === "swapped") {
      const why = whyRenew(child.swaps, reply.rss, limits);
      if (why !== undefined) void renew(child, why);
      return { how: "swapped" };
    }
    folder = previous;
    const error = reply?.type === "failed" ? toText(reply.error) : "The process ended.";
    return { how: "failed", error, kept: true };
  };

  return {
    load: async (next, { fresh = false } = {}) => {
      const outcome = await enqueue(() => load(next, fresh));
      return "renewal" in outcome ? outcome.renewal : outcome;
    },
    restart: (why) =>
      void enqueue(async () => {
        if (folder === undefined || stopped) return;
        if (current?.ready === true) void renew(current, why);
        else await replace();
      }),
    stop: async () => {
      stopped = true;
      await end();
    },
  };
}

/** Modules of old builds can not be unloaded: a process is replaced after so many, or when it has grown so large. */
function whyRenew(swaps: number, rss: number, { swaps: most, memory }: Limits): string | undefined {
  if (swaps >= most) return `it has taken up ${swaps} builds`;
  return rss > memory ? `it uses ${Math.round(rss / 1e6)} MB of memory` : undefined;
}

const ENTRY = fileURLToPath(new URL("../../http/serve-dev.ts", import.meta.url));

function toText({ code, message, fix }: ServingError): string {
  return `${code === undefined ? "" : `${code} `}${message}${fix === undefined ? "" : ` — ${fix}`}`;
}

function describe(exit: Exit): string {
  return typeof exit === "number" ? `It ended with exit code ${exit}.` : `It was ended by ${exit}.`;
}
