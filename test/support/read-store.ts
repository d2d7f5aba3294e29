import { existsSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";

/** One entry of a session's log, as it is on disk. */
export interface StoredEntry {
  readonly seq: number;
  /** Index in the stream; absent for facts that are never streamed. */
  readonly index: number | null;
  readonly type: string;
  readonly id: string | null;
  readonly at: number;
  readonly data: Readonly<Record<string, unknown>>;
}

export interface StoredSession {
  readonly id: string;
  readonly node: string;
  /** It has effects to run or messages to read. */
  readonly active: boolean;
  readonly log: readonly StoredEntry[];
}

export interface StoreContent {
  /** In the order of their creation. */
  readonly sessions: readonly StoredSession[];
  /** Creates that carried an operation id. */
  readonly operations: number;
  /** Ids of accepted messages that are not processed. */
  readonly unread: readonly string[];
}

/** Everything a member has stored, read beside the running process; nothing when it never ran. */
export function readStore(folder: string): StoreContent {
  if (!existsSync(join(folder, "store.db"))) return { sessions: [], operations: 0, unread: [] };
  return read(folder, (all) => {
    const entries = all("SELECT session, seq, idx, type, id, at, data FROM log ORDER BY session, seq");
    return {
      sessions: all("SELECT pk, id, node, active FROM sessions ORDER BY pk").map(({ pk, id, node, active }) => ({
        id: id as string,
        node: node as string,
        active: active === 1,
        log: entries.filter(({ session }) => session === pk).map(toEntry),
      })),
      operations: all("SELECT key FROM operations").length,
      unread: all("SELECT id FROM mail WHERE body IS NOT NULL").map(({ id }) => id as string),
    };
  });
}

/** Nothing of what was accepted is still to be done. */
export function isIdle(folder: string): boolean {
  return read(folder, (all) => {
    const busy = all("SELECT 1 FROM sessions WHERE active = 1 UNION ALL SELECT 1 FROM mail WHERE body IS NOT NULL");
    return busy.length === 0;
  });
}

type Row = Readonly<Record<string, unknown>>;

function read<T>(folder: string, body: (all: (sql: string) => Row[]) => T): T {
  const db = new DatabaseSync(join(folder, "store.db"), { readOnly: true });
  try {
    db.exec("PRAGMA busy_timeout = 5000; BEGIN");
    return body((sql) => db.prepare(sql).all() as Row[]);
  } finally {
    db.close();
  }
}

function toEntry({ seq, idx, type, id, at, data }: Row): StoredEntry {
  return {
    seq: seq as number,
    index: idx as number | null,
    type: type as string,
    id: id as string | null,
    at: at as number,
    data: JSON.parse(data as string) as StoredEntry["data"],
  };
}
