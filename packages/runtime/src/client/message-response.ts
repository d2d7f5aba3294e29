import { ClientError } from "./client-error.ts";
import { isTerminal, turnIdOf, type MessageStreamEvent } from "./events.ts";
import type { ReadEvent } from "./read-events.ts";
import { createTurnProgress, type MessageResult } from "./turn.ts";

export type CancelResult =
  | { readonly status: "accepted"; readonly sessionId: string }
  | { readonly status: "no_active_turn" };

/**
 * The turn that reads a message, as it comes: iterate its events, or wait for its `result()`. Either, once.
 *
 * @example
 * for await (const event of await session.send("Hello")) console.log(event.type);
 */
export interface MessageResponse<TOutput = unknown> extends AsyncIterable<MessageStreamEvent> {
  readonly sessionId: string;
  /** What the server calls the accepted message. */
  readonly deliveryId: string | undefined;
  /** Reads the turn to its end, or to where it waits for a person. */
  result(): Promise<MessageResult<TOutput>>;
  /** Asks to stop this turn and no other, also when it has not begun yet. Its events still come, up to their end. */
  cancel(): Promise<CancelResult>;
}

export interface ResponseOptions {
  readonly sessionId: string;
  readonly deliveryId?: string | undefined;
  /** Reads the session's stream from where it was before the message was sent. */
  readonly read: (signal?: AbortSignal) => AsyncIterable<ReadEvent>;
  /** True for the first event that belongs to the message. */
  readonly begins: (event: MessageStreamEvent) => boolean;
  readonly cancelTurn: (turnId: string) => Promise<CancelResult>;
  /** Told how far the stream has been read. */
  readonly advance: (streamIndex: number) => void;
  readonly signal?: AbortSignal | undefined;
}

export function createMessageResponse<TOutput>(options: ResponseOptions): MessageResponse<TOutput> {
  const { sessionId, deliveryId, read, begins, cancelTurn, advance, signal } = options;
  const progress = createTurnProgress();
  let consumed = false;
  let begun = false;
  let turnId: string | undefined;

  async function* consume(): AsyncGenerator<MessageStreamEvent, void> {
    let prelude: MessageStreamEvent[] = [];
    for await (const { index, event } of read(signal)) {
      advance(index + 1);
      if (!begun && !isTerminal(event)) {
        begun = begins(event);
        if (!begun) {
          prelude = isPrelude(event) ? [...prelude, event] : [];
          continue;
        }
        turnId = turnIdOf(event);
        for (const held of prelude) {
          progress.take(held);
          yield held;
        }
      }
      const over = progress.take(event);
      yield event;
      if (over) return;
    }
    throw new ClientError("The stream ended before the turn did.", { code: "stream_interrupted" });
  }

  const consumeOnce = (): AsyncGenerator<MessageStreamEvent, void> => {
    if (consumed) throw new TypeError("A response can be read only once.");
    consumed = true;
    return consume();
  };

  return {
    sessionId,
    deliveryId,
    [Symbol.asyncIterator]: consumeOnce,
    result: async () => {
      const events: MessageStreamEvent[] = [];
      for await (const event of consumeOnce()) events.push(event);
      return { ...progress.result(), sessionId, turnId, events } as MessageResult<TOutput>;
    },
    cancel: async () => {
      const turn = turnId ?? (await findTurn(options));
      return turn === undefined ? { status: "no_active_turn" } : cancelTurn(turn);
    },
  };
}

/** Looks for the turn by itself: nobody may be reading the response. */
async function findTurn({ read, begins }: ResponseOptions): Promise<string | undefined> {
  for await (const { event } of read()) {
    if (begins(event)) return turnIdOf(event);
    if (isTerminal(event)) return undefined;
  }
  return undefined;
}

/** What comes before the message in the turn that it begins. A turn that it only joins had a beginning before. */
function isPrelude({ type }: MessageStreamEvent): boolean {
  return /^((session|turn)\.started|message\.received)$/.test(type);
}
