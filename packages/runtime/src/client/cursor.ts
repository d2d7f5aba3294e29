import type { MessageStreamEvent } from "./events.ts";
import { readEvents } from "./read-events.ts";
import type { EventSource } from "./stream-connection.ts";
import type { StreamOptions } from "./turn-options.ts";

/** How far a stream has been read by one handle. */
export interface StreamCursor {
  /** Index of the first event that was not read. */
  readonly index: number;
  advance(index: number): void;
  /** Reads on, and advances. */
  stream(options?: StreamOptions): AsyncGenerator<MessageStreamEvent, void>;
}

export function createCursor(source: EventSource, start: number): StreamCursor {
  let next = start;
  // Never back: what was read once is not read again unless somebody asks for it.
  const advance = (index: number): void => void (next = Math.max(next, index));
  return {
    get index() {
      return next;
    },
    advance,
    stream: async function* ({ startIndex, follow = true, signal } = {}) {
      const from = startIndex ?? next;
      for await (const { index, event } of readEvents(source, { from, follow, signal })) {
        // A look at the tail leaves out what may not have been read.
        if (from >= 0) advance(index + 1);
        yield event;
      }
    },
  };
}
