import type { ChildProcess } from "node:child_process";
import { setTimeout as delay } from "node:timers/promises";
import type { LoadBuild, ServingMessage, Settle } from "../../protocol/dev-messages.ts";

type Message<T extends ServingMessage["type"]> = Extract<ServingMessage, { type: T }>;

/** Beyond its time, what a process gets for its answer that never waits for anything itself. */
const ANSWER_MS = 1000;

export type Loaded = Message<"listening" | "swapped" | "failed">;

/** Sends a build and waits for what becomes of it; `undefined` when the process ends instead. */
export function askToLoad(child: ChildProcess, folder: string): Promise<Loaded | undefined> {
  return ask(child, { type: "load", folder }, ["listening", "swapped", "failed"]);
}

/**
 * Waits until nothing is under way in the process, or the time is up, and tells which; true when it has ended, false
 * when it is too busy to answer.
 */
export async function askToSettle(child: ChildProcess, what: Settle["what"], withinMs: number): Promise<boolean> {
  const settled = ask(child, { type: "settle", what, withinMs }, ["settled"]).then((reply) => reply?.quiet ?? true);
  return within(settled, withinMs + ANSWER_MS, false);
}

/** `late` instead of a result that does not come in time. */
export async function within<T, L>(result: Promise<T>, ms: number, late: L): Promise<T | L> {
  const done = new AbortController();
  const timer = delay(ms, late, { signal: done.signal }).catch(() => late);
  const first = await Promise.race([result, timer]);
  done.abort();
  return first;
}

function ask<T extends ServingMessage["type"]>(
  child: ChildProcess,
  message: LoadBuild | Settle,
  replies: readonly T[],
): Promise<Message<T> | undefined> {
  return new Promise((resolve) => {
    const done = (reply: Message<T> | undefined): void => {
      child.off("message", hear).off("exit", gone);
      resolve(reply);
    };
    const hear = (reply: ServingMessage): void => {
      if ((replies as readonly string[]).includes(reply.type)) done(reply as Message<T>);
    };
    const gone = (): void => done(undefined);
    child.on("message", hear).on("exit", gone);
    // Without a callback a child that is gone raises an "error" event; "exit" says the same.
    child.send(message, () => {});
  });
}
