import type { ChildProcess } from "node:child_process";
import { exitOf, startChild, stopChild, type ChildOptions, type Exit } from "./child.ts";

const FIRST_DELAY_MS = 100;
const LONGEST_DELAY_MS = 5000;
/** A process that lived this long did not crash because of how it starts. */
const HEALTHY_MS = 10_000;

export interface KeepRunningOptions extends ChildOptions {
  /** Called when it crashed; the returned function is called before it is started again. */
  readonly onCrash: (exit: Exit, delayMs: number) => Promise<() => Promise<void>>;
}

/**
 * Runs a module as a child process and starts it again whenever it ends, with a growing delay.
 *
 * @returns stops it for good.
 */
export function keepRunning(module: string, options: KeepRunningOptions): () => Promise<void> {
  const stop = new AbortController();
  let child: ChildProcess | undefined;

  const running = (async () => {
    for (let delay = FIRST_DELAY_MS; !stop.signal.aborted; delay = Math.min(delay * 2, LONGEST_DELAY_MS)) {
      const started = performance.now();
      child = startChild(module, options);
      const exit = await exitOf(child);
      if (stop.signal.aborted) return;
      if (performance.now() - started > HEALTHY_MS) delay = FIRST_DELAY_MS;
      const release = await options.onCrash(exit, delay);
      await wait(delay, stop.signal);
      await release();
    }
  })();

  return async () => {
    stop.abort();
    if (child) await stopChild(child);
    await running;
  };
}

function wait(ms: number, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener("abort", () => (clearTimeout(timer), resolve()), { once: true });
  });
}
