import type { SessionHead } from "../../engine/ports.ts";
import type { StoreReader } from "../../host/sql/store.ts";
import { toSummary } from "../../http/session/summary.ts";
import type { ListOptions } from "./parse-command.ts";
import { toAge, toLine } from "./printable.ts";
import { readFirstMessage } from "./read-events.ts";
import { readTree, type SessionTree } from "./session-tree.ts";

type Reader = Pick<StoreReader, "list" | "head" | "descendants" | "events">;

/** A session in a list. */
export interface Listing {
  readonly head: SessionHead;
  readonly message: string | undefined;
  readonly children: readonly Listing[];
}

const PAGE = 100;
const MESSAGE_LENGTH = 60;
const INDENT = "  ";

/** The newest sessions that no other one started, and whether there are more of them. */
export async function readList(
  store: Reader,
  { limit, status, all }: Pick<ListOptions, "limit" | "status" | "all">,
): Promise<{ readonly sessions: readonly Listing[]; readonly more: boolean }> {
  const sessions: Listing[] = [];
  for (let cursor: string | undefined; ;) {
    const page = await store.list({ limit: PAGE, ...(cursor === undefined ? {} : { cursor }) });
    for (const head of page.sessions) {
      if (status !== undefined && head.status !== status) continue;
      if (sessions.length === limit) return { sessions, more: true };
      sessions.push(await toListing(store, all ? await readTree(store, head) : { head, children: [] }));
    }
    cursor = page.cursor;
    if (cursor === undefined) return { sessions, more: false };
  }
}

async function toListing(store: Reader, { head, children }: SessionTree): Promise<Listing> {
  const listed: Listing[] = [];
  for (const child of children) listed.push(await toListing(store, child));
  return { head, message: await readFirstMessage(store, head), children: listed };
}

/** A table, those below a session indented. */
export function renderList(sessions: readonly Listing[], now: number): string[] {
  const rows = sessions.flatMap((listing) => toRows(listing, now, ""));
  const table = [["id", "agent", "status", "age", "events", "first message"], ...rows];
  const widths = table[0]!.map((_, column) => Math.max(...table.map((row) => row[column]!.length)));
  return table.map((row) =>
    row
      .map((cell, column) => (column === EVENTS ? cell.padStart(widths[column]!) : cell.padEnd(widths[column]!)))
      .join("  ")
      .trimEnd(),
  );
}

const EVENTS = 4;

function toRows({ head, message, children }: Listing, now: number, indent: string): string[][] {
  const { sessionId, agentName, status, createdAt, nextIndex } = head;
  return [
    [
      `${indent}${sessionId}`,
      toLine(agentName, MESSAGE_LENGTH),
      status,
      toAge(now - createdAt),
      String(nextIndex),
      toLine(message ?? "", MESSAGE_LENGTH),
    ],
    ...children.flatMap((child) => toRows(child, now, `${indent}${INDENT}`)),
  ];
}

/** The same for programs; a message is whole. */
export function toJsonList(sessions: readonly Listing[], all: boolean): readonly Record<string, unknown>[] {
  return sessions.map(({ head, message, children }) => ({
    ...toSummary(head),
    ...(message === undefined ? {} : { message }),
    ...(all ? { children: toJsonList(children, all) } : {}),
  }));
}
