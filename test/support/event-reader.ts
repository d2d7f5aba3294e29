import { setTimeout as delay } from "node:timers/promises";
import type { StreamEvent } from "../../packages/runtime/src/protocol/events.ts";

export interface ReadEvent {
  readonly index: number;
  /** The line as it was sent. */
  readonly line: string;
  readonly event: StreamEvent;
}

export interface EventReader extends AsyncDisposable {
  /** All events read so far, in order. */
  readonly events: readonly ReadEvent[];
  /** How often the connection was opened. */
  readonly connections: number;
  /** Why it stopped reading, if it had to: an answer that no reconnect will change. */
  readonly failure: unknown;
  /** Drops the connection; the next one goes on from the cursor. */
  reconnect(): void;
  /** The first event that matches, read already or still to come. */
  untilEvent(what: string, match: (read: ReadEvent) => boolean, options?: { timeoutMs?: number }): Promise<ReadEvent>;
}

const RECONNECT_MS = 15;

/** Follows a stream as a client does: from its cursor on, over any number of connections. */
export function followEvents(
  url: string,
  headers: Readonly<Record<string, string>> = {},
  onEvent: (read: ReadEvent) => void = () => {},
): EventReader {
  const events: ReadEvent[] = [];
  const stop = new AbortController();
  let connection = new AbortController();
  const listeners = new Set<() => void>();
  let connections = 0;
  let failure: unknown;

  const read = async (): Promise<void> => {
    while (!stop.signal.aborted) {
      try {
        connection = new AbortController();
        const signal = AbortSignal.any([stop.signal, connection.signal]);
        const lines = await openLines(`${url}?startIndex=${events.length}`, headers, signal);
        connections++;
        for await (const line of lines) {
          const read = { index: events.length, line, event: JSON.parse(line) as StreamEvent };
          events.push(read);
          onEvent(read);
          for (const listener of listeners) listener();
        }
        if (events.at(-1)?.event.type === "session.completed") return;
      } catch (error) {
        if (error instanceof RefusedError) throw error;
      }
      await delay(RECONNECT_MS);
    }
  };
  const reading = read().catch((error: unknown) => {
    failure = error;
    for (const listener of listeners) listener();
  });

  return {
    events,
    get connections() {
      return connections;
    },
    get failure() {
      return failure;
    },
    reconnect: () => connection.abort(),
    untilEvent: (what, match, { timeoutMs = 10_000 } = {}) =>
      new Promise((resolve, reject) => {
        let seen = 0;
        const done = (settle: () => void): void => {
          clearTimeout(timer);
          listeners.delete(look);
          settle();
        };
        const look = (): void => {
          while (seen < events.length) {
            const found = events[seen++]!;
            if (match(found)) return done(() => resolve(found));
          }
          if (failure !== undefined) done(() => reject(failure));
        };
        const timer = setTimeout(() => {
          const last = events
            .slice(-3)
            .map(({ line }) => line.slice(0, 200))
            .join("\n");
          done(() =>
            reject(
              new Error(`Waited ${timeoutMs} ms in vain for ${what}; ${events.length} events, the last:\n${last}`),
            ),
          );
        }, timeoutMs);
        listeners.add(look);
        look();
      }),
    [Symbol.asyncDispose]: async () => {
      stop.abort();
      await reading;
    },
  };
}

/** The lines of a stream that ends by itself (`follow=false`), blank ones left out. */
export async function readLines(url: string, headers: Readonly<Record<string, string>> = {}): Promise<string[]> {
  const lines: string[] = [];
  for await (const line of await openLines(url, headers)) lines.push(line);
  return lines;
}

/** An answer that no reconnect will change. */
class RefusedError extends Error {}

async function openLines(
  url: string,
  headers: Readonly<Record<string, string>>,
  signal?: AbortSignal,
): Promise<AsyncIterable<string>> {
  const response = await fetch(url, { headers, ...(signal === undefined ? {} : { signal }) });
  if (response.status >= 500) throw new Error(`The stream answered ${response.status}.`);
  if (!response.ok) throw new RefusedError(`The stream answered ${response.status}: ${await response.text()}`);
  return splitLines(response.body as unknown as AsyncIterable<Uint8Array>);
}

async function* splitLines(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let rest = "";
  for await (const chunk of chunks) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split("\n");
    rest = lines.pop()!;
    for (const line of lines) if (line !== "") yield line;
  }
  // A line without its end was cut off by a broken connection: it comes again.
}
