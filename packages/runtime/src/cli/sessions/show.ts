import type { StoreReader } from "../../host/sql/store.ts";
import type { StreamEvent } from "../../protocol/events.ts";
import { toSummary } from "../../http/session/summary.ts";
import { cut, toPrintable } from "./printable.ts";
import { readEvents } from "./read-events.ts";
import { renderEvent, type Said } from "./render-event.ts";
import type { SessionTree } from "./session-tree.ts";

type Reader = Pick<StoreReader, "events">;

const TEXT_LENGTH = 400;
const INDENT = "    ";
const WHAT_WIDTH = "message".length;

/**
 * The conversation of a session, line by line: the index of an event, its time, what it is. A session that it started
 * stands where it was started, indented. Times are UTC.
 */
export async function* renderSession(
  store: Reader,
  { head, children }: SessionTree,
  options: { readonly full: boolean },
  indent: string = "",
): AsyncGenerator<string> {
  const waiting = new Map(children.map((child) => [child.head.sessionId, child]));
  const { sessionId, agentName, status, nextIndex, createdAt, updatedAt } = head;
  const since = `${toTime(createdAt)} to ${toTime(updatedAt)} UTC`;
  yield `${indent}${sessionId}  ${toPrintable(agentName)}  ${status}  ${nextIndex} events  ${since}`;
  const width = String(Math.max(0, nextIndex - 1)).length;
  for await (const { index, event } of readEvents(store, head)) {
    for (const said of renderEvent(event)) {
      yield* toLines(said, options.full).map((line, place) => {
        const at =
          place === 0 ? `${String(index).padStart(width)}  ${event.meta.at.slice(11, 19)}` : " ".repeat(width + 10);
        return `${indent}${at}  ${line}`.trimEnd();
      });
    }
    const child = event.type === "agent.started" ? waiting.get(event.data.sessionId) : undefined;
    if (child === undefined) continue;
    waiting.delete(child.head.sessionId);
    yield* renderSession(store, child, options, `${indent}${INDENT}`);
  }
  // Those that it has yet to say it started.
  for (const child of waiting.values()) yield* renderSession(store, child, options, `${indent}${INDENT}`);
}

function toLines({ what, text }: Said, full: boolean): string[] {
  const lines = toPrintable(full ? text : cut(text, TEXT_LENGTH)).split("\n");
  return lines.map((line, place) => `${(place === 0 ? what : "").padEnd(WHAT_WIDTH)}  ${line}`);
}

function toTime(ms: number): string {
  return new Date(ms).toISOString().slice(0, 19).replace("T", " ");
}

/** The same for programs: every event as the stream has it, its place in the list its index. */
export async function toJsonSession(store: Reader, { head, children }: SessionTree): Promise<Record<string, unknown>> {
  const events: StreamEvent[] = [];
  for await (const { event } of readEvents(store, head)) events.push(event);
  const below: Record<string, unknown>[] = [];
  for (const child of children) below.push(await toJsonSession(store, child));
  return { ...toSummary(head), events, children: below };
}
