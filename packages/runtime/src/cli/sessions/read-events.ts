import type { SessionHead } from "../../engine/ports.ts";
import { unwrapDelegation } from "../../engine/text.ts";
import type { StoreReader } from "../../host/sql/store.ts";
import type { StreamEvent } from "../../protocol/events.ts";

const PAGE = 256;
const PAGE_LENGTH = 256 * 1024;
/** A session that was opened with a message has it within so many events. */
const OPENING = 8;

/** The events of a session, a page at a time. */
export async function* readEvents(
  store: Pick<StoreReader, "events">,
  { sessionId, nextIndex }: Pick<SessionHead, "sessionId" | "nextIndex">,
): AsyncGenerator<{ readonly index: number; readonly event: StreamEvent }> {
  for (let from = 0; from < nextIndex;) {
    const page = await store.events(sessionId, from, Math.min(PAGE, nextIndex - from), PAGE_LENGTH);
    for (const { index, line } of page) yield { index, event: JSON.parse(line) as StreamEvent };
    const last = page.at(-1);
    // Deleted meanwhile.
    if (last === undefined) return;
    from = last.index + 1;
  }
}

/** What a session was first told, as whoever told it wrote it. */
export async function readFirstMessage(
  store: Pick<StoreReader, "events">,
  { sessionId, nextIndex }: Pick<SessionHead, "sessionId" | "nextIndex">,
): Promise<string | undefined> {
  for await (const { event } of readEvents(store, { sessionId, nextIndex: Math.min(nextIndex, OPENING) })) {
    if (event.type === "message.received") return unwrapDelegation(event.data.message);
  }
  return undefined;
}
