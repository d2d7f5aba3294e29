import type { Entry, FactType } from "../../../engine/entry.ts";
import type { StoredEvent } from "../../../engine/ports.ts";
import type { Database } from "../database.ts";
import { Unprocessable, type Commit } from "../store.ts";

/** Kinds of log rows: facts are never streamed, deltas never folded. */
const KIND = { fact: 0, event: 1, delta: 2 } as const;

const INSERT =
  "INSERT INTO log (session, seq, idx, kind, type, id, at, data, inner) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)";
const READ =
  "SELECT kind, type, data, inner FROM log WHERE session = ? AND seq >= ? AND seq < ? AND kind <> 2 ORDER BY seq";
const SEQ_OF_EVENT = "SELECT seq FROM log WHERE session = ? AND idx = ?";
const EVENTS = `SELECT l.idx, l.type, l.id, l.at, l.data, l.inner FROM log l JOIN sessions s ON s.pk = l.session
  WHERE s.id = ? AND s.gone IS NULL AND l.idx >= ? ORDER BY l.idx LIMIT ?`;

interface EntryRow {
  readonly kind: number;
  readonly type: string;
  readonly data: string;
  readonly inner: string | null;
}

interface EventRow extends Omit<EntryRow, "kind"> {
  readonly idx: number;
  readonly id: string;
  readonly at: number;
}

/** Where a session's log ends. */
export interface LogEnd {
  readonly seq: number;
  readonly index: number;
}

/** The entries of all sessions. */
export interface LogTable {
  append(session: number, end: LogEnd, commit: Pick<Commit, "entries" | "at">): LogEnd & { readonly length: number };
  /** Entries without deltas, from `seq` on and before `end`. */
  read(session: number, seq: number, end: number): { readonly entries: readonly Entry[]; readonly length: number };
  seqOfEvent(session: number, index: number): number | undefined;
  events(sessionId: string, from: number, limit: number, maxLength: number): readonly StoredEvent[];
}

export function createLogTable({ sql, discard }: Database): LogTable {
  return {
    append: (session, { seq, index }, { entries, at }) => {
      let length = 0;
      for (const { entry, id } of entries) {
        const { kind, type, data, inner } = toRow(entry);
        const idx = kind === KIND.fact ? null : index++;
        sql(INSERT).run(session, seq++, idx, kind, type, id ?? null, at, data, inner);
        length += lengthOf(data, inner);
      }
      return { seq, index, length };
    },
    read: (session, seq, end) => {
      let length = 0;
      const entries = (sql(READ).all(session, seq, end) as unknown as EntryRow[]).map((row) => {
        length += lengthOf(row.data, row.inner);
        return toEntry(row);
      });
      return { entries, length };
    },
    seqOfEvent: (session, index) => (sql(SEQ_OF_EVENT).get(session, index) as { seq: number } | undefined)?.seq,
    events: (sessionId, from, limit, maxLength) => {
      const events: StoredEvent[] = [];
      let length = 0;
      try {
        // Row by row: what does not fit is never read into memory.
        for (const row of sql(EVENTS).iterate(sessionId, from, limit) as Iterable<unknown> as Iterable<EventRow>) {
          const line = toLine(row);
          length += line.length;
          if (events.length > 0 && length > maxLength) break;
          events.push({ index: row.idx, line });
        }
      } catch (error) {
        // An iteration that failed would fail the next one, too, of whatever session.
        discard(EVENTS);
        throw error;
      }
      return events;
    },
  };
}

function toRow(entry: Entry): EntryRow {
  const delta = entry.type === "message.appended" || entry.type === "reasoning.appended";
  const inner = entry.public && entry.inner !== undefined ? toJson(entry.inner) : null;
  return {
    kind: !entry.public ? KIND.fact : delta ? KIND.delta : KIND.event,
    type: entry.type,
    data: toJson(entry.data),
    inner,
  };
}

function toJson(value: unknown): string {
  try {
    return JSON.stringify(value);
  } catch (error) {
    throw new Unprocessable(error);
  }
}

function lengthOf(data: string, inner: string | null): number {
  return data.length + (inner?.length ?? 0);
}

function toEntry({ kind, type, data, inner }: EntryRow): Entry {
  if (kind === KIND.fact) return { public: false, type: type as FactType, data: JSON.parse(data) } as Entry;
  const entry = { public: true, type, data: JSON.parse(data) };
  return (inner === null ? entry : { ...entry, inner: JSON.parse(inner) }) as Entry;
}

/** The event as it is sent. Only a message says, in its `meta`, which deliveries it was. */
function toLine({ type, id, at, data, inner }: EventRow): string {
  const meta: Record<string, unknown> = { id, at: new Date(at).toISOString() };
  if (type === "message.received" && inner !== null) meta.deliveryIds = JSON.parse(inner).deliveryIds;
  return `{"type":${JSON.stringify(type)},"data":${data},"meta":${JSON.stringify(meta)}}`;
}
