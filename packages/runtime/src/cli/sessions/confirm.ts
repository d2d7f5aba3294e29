import { createInterface } from "node:readline/promises";
import type { Readable, Writable } from "node:stream";

/** Asks at a terminal; only a plain yes is one. */
export async function confirm(question: string, input: Readable, output: Writable): Promise<boolean> {
  const terminal = createInterface({ input, output });
  const stop = new AbortController();
  // Ctrl-C and Ctrl-D are no answer.
  terminal.once("close", () => stop.abort());
  try {
    return /^y(es)?$/i.test((await terminal.question(`${question} [y/N] `, { signal: stop.signal })).trim());
  } catch (error) {
    if (stop.signal.aborted) return false;
    throw error;
  } finally {
    terminal.close();
  }
}
