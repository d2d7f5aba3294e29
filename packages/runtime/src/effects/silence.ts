/** A provider that is waited for, but not for ever. */
export interface SilenceWatch {
  /** Aborts with the call, and when the provider has been silent for too long. */
  readonly signal: AbortSignal;
  /** From now on the provider may say nothing for so long. */
  expect(ms: number): void;
  /** What `work` comes to; fails when `signal` aborts, also when `work` does not mind it. */
  guard<T>(work: Promise<T>): Promise<T>;
  /** Nothing is waited for any more; `abandoned`: and what still runs is of no use to anybody. */
  stop(abandoned?: "abandoned"): void;
}

/** A provider said nothing for longer than it may. */
export class ProviderSilence extends Error {
  constructor(ms: number) {
    super(`The provider said nothing for ${ms / 1_000} s.`);
    this.name = "ProviderSilence";
  }
}

export function watchSilence(call: AbortSignal, firstMs: number): SilenceWatch {
  const controller = new AbortController();
  const { signal } = controller;
  const forward = (): void => controller.abort(call.reason);
  call.addEventListener("abort", forward, { once: true });
  if (call.aborted) forward();
  const start = (ms: number): NodeJS.Timeout => setTimeout(() => controller.abort(new ProviderSilence(ms)), ms).unref();
  let limit = firstMs;
  let timer = start(limit);
  return {
    signal,
    expect: (ms) => {
      if (ms === limit) return void timer.refresh();
      clearTimeout(timer);
      timer = start((limit = ms));
    },
    guard: (work) =>
      new Promise((resolve, reject) => {
        const fail = (): void => reject(signal.reason);
        signal.addEventListener("abort", fail, { once: true });
        if (signal.aborted) fail();
        work.then(resolve, reject);
      }),
    stop: (abandoned) => {
      clearTimeout(timer);
      if (abandoned) controller.abort();
      call.removeEventListener("abort", forward);
    },
  };
}
