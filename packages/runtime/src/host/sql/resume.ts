import { setImmediate as nextTurn } from "node:timers/promises";
import type { Listed } from "./store.ts";

/** Sessions that are read from the store at a time. */
const PAGE = 100;

export type ReadPage<Position> = (after: Position | undefined, limit: number) => Promise<readonly Listed<Position>[]>;

/**
 * Goes through sessions that have something to do, one for each turn of the event loop: a process that starts with
 * hundreds of them answers a new message in between, and holds no more than a page of their ids.
 */
export async function forEachSession<Position>(
  read: ReadPage<Position>,
  visit: (sessionId: string) => Promise<void>,
  isStopped: () => boolean,
): Promise<void> {
  let after: Position | undefined;
  for (;;) {
    const page = await read(after, PAGE);
    for (const { sessionId } of page) {
      if (isStopped()) return;
      await visit(sessionId);
      await nextTurn();
    }
    if (page.length < PAGE) return;
    after = page.at(-1)!.position;
  }
}
