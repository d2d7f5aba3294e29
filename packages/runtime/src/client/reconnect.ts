/** How a client deals with connections that fail. */
export interface ReconnectPolicy {
  /** Failures in a row after which it gives up; a sign of life in between starts anew. Default 30. */
  readonly maxReconnectAttempts: number;
  /** Milliseconds before the first attempt; doubled for each further one, up to 5 s. Default 100. */
  readonly reconnectDelayMs: number;
  /** Milliseconds without a byte after which the connection of a stream counts as dead. Default 15,000. */
  readonly silenceMs: number;
}

const MAX_DELAY_MS = 5_000;

/** Waits before the attempt after so many failures. Spread, so that not all clients of a server come back at once. */
export async function pause(policy: ReconnectPolicy, failures: number, signal?: AbortSignal): Promise<void> {
  signal?.throwIfAborted();
  const longest = Math.min(policy.reconnectDelayMs * 2 ** (failures - 1), MAX_DELAY_MS);
  await new Promise<void>((resolve) => {
    const wake = (): void => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", wake);
      resolve();
    };
    const timer = setTimeout(wake, longest * (0.5 + Math.random() / 2));
    signal?.addEventListener("abort", wake);
  });
  signal?.throwIfAborted();
}
