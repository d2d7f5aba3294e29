import { setTimeout as delay } from "node:timers/promises";

const POLL_MS = 15;

/** Polls until `condition` returns something truthy, and returns that; says what was missing when the time is up. */
export async function until<T>(
  what: string,
  condition: () => T | Promise<T>,
  { timeoutMs = 10_000 }: { timeoutMs?: number } = {},
): Promise<NonNullable<T>> {
  const deadline = performance.now() + timeoutMs;
  for (;;) {
    const found = await condition();
    if (found) return found;
    if (performance.now() > deadline) throw new Error(`Waited ${timeoutMs} ms in vain: ${what}.`);
    await delay(POLL_MS);
  }
}
