import type { MessageStreamEvent } from "./events.ts";

/** All events of a stream that ends. */
export async function collect(events: AsyncIterable<MessageStreamEvent>): Promise<MessageStreamEvent[]> {
  const all: MessageStreamEvent[] = [];
  for await (const event of events) all.push(event);
  return all;
}

/** The same as the lines that they came in. */
export async function collectLines(events: AsyncIterable<MessageStreamEvent>): Promise<string[]> {
  return (await collect(events)).map((event) => JSON.stringify(event));
}
