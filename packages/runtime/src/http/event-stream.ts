import type { Host } from "../engine/ports.ts";

/** The protocol promises a sign of life every 10 s; timers are late, never early. */
const HEARTBEAT_MS = 9_000;
/** Events read at a time: what a slow reader costs in memory. */
const PAGE = 256;
const PAGE_LENGTH = 256 * 1024;
/** Tells who asked for it that this connection ends and the stream does not. */
const LEASE_ENDED = `${JSON.stringify({ $eve: "stream.lease-ended", version: 1 })}\n`;

export interface StreamRequest {
  readonly host: Host;
  readonly sessionId: string;
  /** Index of the first event. */
  readonly from: number;
  /** Stop before this index; otherwise follow until the session ends. */
  readonly until?: number;
  /** Milliseconds after which a followed stream ends with a line that says so; absent: it ends with the session. */
  readonly leaseMs?: number;
}

/**
 * The events of a session as NDJSON. Reads a page whenever the reader has taken the last one, so that a slow reader
 * holds no more than that; blank lines keep the connection alive.
 */
export function createEventStream(request: StreamRequest): ReadableStream<Uint8Array> {
  const { host, sessionId, from, until, leaseMs = Infinity } = request;
  const encoder = new TextEncoder();
  const leaseEnd = performance.now() + leaseMs;
  let cursor = from;
  let changed = true;
  // All events there were have been sent: nothing to look for until something changed.
  let drained = false;
  let notify = (): void => {};
  let unsubscribe: (() => void) | undefined;
  const subscribe = (): (() => void) =>
    host.subscribe(sessionId, () => {
      changed = true;
      notify();
    });
  const change = (): Promise<void> =>
    new Promise((resolve) => {
      const timer = setTimeout(resolve, Math.min(HEARTBEAT_MS, leaseEnd - performance.now()));
      notify = () => {
        clearTimeout(timer);
        resolve();
      };
      if (changed) notify();
    });

  return new ReadableStream<Uint8Array>(
    {
      // Opens the response at once, also before the first event.
      start: (controller) => controller.enqueue(encoder.encode("\n")),
      pull: async (controller) => {
        // Not before somebody reads: a stream that nobody does is never cancelled either.
        unsubscribe ??= subscribe();
        const end = (): void => {
          unsubscribe?.();
          controller.close();
        };
        for (;;) {
          if (performance.now() >= leaseEnd) {
            controller.enqueue(encoder.encode(LEASE_ENDED));
            return end();
          }
          if (drained && !changed) {
            await change();
            if (performance.now() >= leaseEnd) continue;
            if (!changed) return controller.enqueue(encoder.encode("\n"));
          }
          changed = false;
          const head = await host.head(sessionId);
          const tail = until ?? head?.nextIndex ?? 0;
          const ended = until !== undefined || head?.ended !== false || head.swept === true;
          const limit = until === undefined ? PAGE : Math.min(PAGE, until - cursor);
          const events = limit <= 0 ? [] : await host.events(sessionId, cursor, limit, PAGE_LENGTH);
          if (events.length > 0) {
            cursor = events.at(-1)!.index + 1;
            controller.enqueue(encoder.encode(`${events.map(({ line }) => line).join("\n")}\n`));
          }
          drained = events.length === 0 || cursor >= tail;
          if (drained && ended) return end();
          if (events.length > 0) return;
        }
      },
      cancel: () => {
        unsubscribe?.();
        notify();
      },
    },
    { highWaterMark: 1 },
  );
}
