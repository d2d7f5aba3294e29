import type { SessionHead, StoredEvent } from "../../engine/ports.ts";
import { toSummary } from "./summary.ts";

export const EXPORT_VERSION = 1;
/** A host, or a store that is only read. */
export interface ExportSource {
  head(sessionId: string): Awaitable<SessionHead | undefined>;
  events(sessionId: string, from: number, limit: number, maxLength: number): Awaitable<readonly StoredEvent[]>;
}

type Awaitable<T> = T | Promise<T>;

const PAGE = 256;
const PAGE_LENGTH = 256 * 1024;

/**
 * The sessions one after the other: a line that says which, then its events as its stream has them. Each is read up to
 * where it was when its turn came, a page whenever the reader took the last one.
 */
export function createExportStream(host: ExportSource, sessionIds: readonly string[]): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  const lines = exportLines(host, sessionIds);
  return new ReadableStream<Uint8Array>(
    {
      pull: async (controller) => {
        const { done, value } = await lines.next();
        if (done) controller.close();
        else controller.enqueue(encoder.encode(`${value}\n`));
      },
      cancel: async () => void (await lines.return(undefined)),
    },
    { highWaterMark: 1 },
  );
}

async function* exportLines(host: ExportSource, sessionIds: readonly string[]): AsyncGenerator<string, undefined> {
  for (const sessionId of sessionIds) {
    const head = await host.head(sessionId);
    if (head === undefined) continue;
    yield JSON.stringify({ $export: { version: EXPORT_VERSION, ...toSummary(head) } });
    for (let from = 0; from < head.nextIndex;) {
      const events = await host.events(sessionId, from, Math.min(PAGE, head.nextIndex - from), PAGE_LENGTH);
      const last = events.at(-1);
      // Deleted meanwhile.
      if (last === undefined) break;
      yield events.map(({ line }) => line).join("\n");
      from = last.index + 1;
    }
  }
  return undefined;
}
