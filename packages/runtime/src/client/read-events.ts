import { ClientError, isTransient, parseObject } from "./client-error.ts";
import { isTerminal, type MessageStreamEvent } from "./events.ts";
import { pause } from "./reconnect.ts";
import { openStream, type EventSource, type StreamConnection } from "./stream-connection.ts";

export interface ReadOptions {
  /** Index of the first event; negative counts from the tail. */
  readonly from: number;
  /** Go on with what comes until the session ends; else stop at the last event that there is at the start. */
  readonly follow: boolean;
  readonly signal?: AbortSignal | undefined;
}

export interface ReadEvent {
  readonly index: number;
  readonly event: MessageStreamEvent;
}

/**
 * Reads every event once, in order, over as many connections as it takes: one that breaks, falls silent or ends with
 * its lease is replaced by another from the cursor on.
 *
 * @throws ClientError what the server answered, when no reconnect will change that; `stream_interrupted` after too
 * many failures in a row; `invalid_event`; `unsupported_stream`.
 */
export async function* readEvents(source: EventSource, options: ReadOptions): AsyncGenerator<ReadEvent, void> {
  const { follow, signal } = options;
  const { policy } = source;
  let cursor = options.from;
  /** Where a bounded read stops: what the first connection said holds for all. */
  let until: number | undefined;
  let failures = 0;
  for (;;) {
    let connection: StreamConnection | undefined;
    let blanks = 0;
    let alive = false;
    let leaseEnded = false;
    let cause: unknown;
    try {
      const bounds = follow ? { streamControlVersion: 1 } : { follow: "false" };
      connection = await openStream(source, { startIndex: cursor, includeTailIndex: 1, ...bounds }, signal);
      if (cursor < 0 || (!follow && until === undefined)) {
        const next = tailOf(connection) + 1;
        if (cursor < 0) cursor = Math.max(0, next + cursor);
        if (!follow) until = next;
      }
      while (until === undefined || cursor < until) {
        const lines = await connection.read();
        if (lines === undefined) break;
        for (const line of lines) {
          signal?.throwIfAborted();
          const event = parseLine(line);
          // The first blank line opens the stream, also that of a server which closes it right after.
          if (event === undefined) alive ||= ++blanks > 1;
          else if ("$eve" in event) leaseEnded ||= event.$eve === "stream.lease-ended";
          else {
            alive = true;
            yield { index: cursor++, event };
            if (follow ? isTerminal(event) : cursor === until) return;
          }
        }
      }
      if (until !== undefined && cursor >= until) return;
    } catch (error) {
      if (signal?.aborted === true || !isTransient(error)) throw error;
      cause = error;
    } finally {
      connection?.close();
    }
    if (alive) failures = 0;
    if (alive && leaseEnded) continue;
    // Behind the end of a session its stream says no more than one that was cut off.
    if (follow && !alive && !leaseEnded && cause === undefined) {
      const last = await readLast(source, signal);
      if (last !== undefined && last.index < cursor && isTerminal(last.event)) return;
    }
    if (++failures > policy.maxReconnectAttempts) throw interrupted(failures, cause);
    await pause(policy, failures, signal);
  }
}

/** The last event that there is, if there is any. */
export async function readLast(source: EventSource, signal: AbortSignal | undefined): Promise<ReadEvent | undefined> {
  for await (const last of readEvents(source, { from: -1, follow: false, signal })) return last;
  return undefined;
}

function tailOf({ tailIndex }: StreamConnection): number {
  if (tailIndex !== null) return Number(tailIndex);
  throw new ClientError("The server does not say where the stream ends.", { code: "unsupported_stream" });
}

/** An event, or a word of the server to its clients; `undefined` for a blank line, which only shows that it lives. */
function parseLine(line: string): MessageStreamEvent | { readonly $eve: unknown } | undefined {
  if (line.trim() === "") return undefined;
  const value = parseObject(line);
  if (value?.type !== undefined || value?.$eve !== undefined) return value as never;
  throw new ClientError(`A line of the stream is no event: ${line.slice(0, 80)}`, { code: "invalid_event" });
}

function interrupted(failures: number, cause: unknown): ClientError {
  return new ClientError(`${failures} connections in a row have brought nothing of the stream.`, {
    code: "stream_interrupted",
    cause,
  });
}
