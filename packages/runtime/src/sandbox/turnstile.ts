/** Lets through so many at a time; the others wait in line, as long as they want to. */
export function createTurnstile(places: number): <T>(work: () => Promise<T>, signal: AbortSignal) => Promise<T> {
  let free = places;
  const waiting = new Set<() => void>();

  const enter = (signal: AbortSignal): Promise<void> =>
    new Promise((resolve, reject) => {
      if (signal.aborted) return reject(signal.reason);
      if (free > 0) {
        free--;
        return resolve();
      }
      const leave = (): void => {
        waiting.delete(next);
        reject(signal.reason);
      };
      const next = (): void => {
        waiting.delete(next);
        signal.removeEventListener("abort", leave);
        resolve();
      };
      waiting.add(next);
      signal.addEventListener("abort", leave, { once: true });
    });

  return async (work, signal) => {
    await enter(signal);
    try {
      return await work();
    } finally {
      const [next] = waiting;
      if (next === undefined) free++;
      else next();
    }
  };
}
