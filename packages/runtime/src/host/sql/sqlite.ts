import { randomBytes } from "node:crypto";
import { accessSync, constants } from "node:fs";
import { DatabaseSync, type StatementSync } from "node:sqlite";
import type { Entry, FactType } from "../../engine/entry.ts";
import type { OpenInput } from "../../engine/input.ts";
import { explainProblems } from "./explain-problems.ts";
import { migrate } from "./migrations.ts";
import type { StoredEvent } from "../../engine/ports.ts";
import { toUnusable } from "./unusable.ts";
import { StaleVersion, Unprocessable, type Commit, type Store, type StoredEntry } from "./store.ts";

/** Kinds of log rows: facts are never streamed, deltas never folded. */
const KIND = { fact: 0, event: 1, delta: 2 } as const;

const SQL = {
  session: "SELECT pk, version, next_index, ended FROM sessions WHERE id = ?",
  head: "SELECT id, node, owner, ended, next_index FROM sessions WHERE id = ?",
  insertSession:
    "INSERT INTO sessions (id, node, owner, version, next_index, active, ended) VALUES (?, ?, ?, 0, 0, 1, 0) RETURNING pk",
  operation: "SELECT session, digest FROM operations WHERE key = ?",
  insertOperation: "INSERT INTO operations (key, session, digest) VALUES (?, ?, ?)",
  insertMail: "INSERT INTO mail (session, id, body, digest) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING",
  wake: "UPDATE sessions SET active = 1 WHERE pk = ?",
  mail: "SELECT m.position, m.body FROM mail m JOIN sessions s ON s.pk = m.session WHERE s.id = ? AND m.body IS NOT NULL ORDER BY m.position",
  knowsMail: "SELECT 1 FROM mail m JOIN sessions s ON s.pk = m.session WHERE s.id = ? AND m.id = ?",
  digestOfMail: "SELECT digest FROM mail WHERE session = ? AND id = ?",
  takeMail: "UPDATE mail SET body = NULL WHERE position = ?",
  moreMail: "SELECT 1 FROM mail WHERE session = ? AND body IS NOT NULL LIMIT 1",
  insertEntry:
    "INSERT INTO log (session, seq, idx, kind, type, id, at, data, inner) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
  updateSession: "UPDATE sessions SET version = ?, next_index = ?, active = ?, ended = ? WHERE pk = ? AND version = ?",
  load: "SELECT kind, type, data, inner FROM log WHERE session = ? AND kind <> 2 ORDER BY seq",
  events:
    "SELECT l.idx, l.type, l.id, l.at, l.data, l.inner FROM log l JOIN sessions s ON s.pk = l.session WHERE s.id = ? AND l.idx >= ? ORDER BY l.idx LIMIT ?",
  active: "SELECT id FROM sessions WHERE active = 1 ORDER BY pk",
  secret: "SELECT value FROM meta WHERE key = 'secret'",
  insertSecret: "INSERT INTO meta (key, value) VALUES ('secret', ?)",
} as const;

interface SessionRow {
  readonly pk: number;
  readonly version: number;
  readonly next_index: number;
  readonly ended: number;
}

interface LogRow {
  readonly idx: number;
  readonly kind: number;
  readonly type: string;
  readonly id: string;
  readonly at: number;
  readonly data: string;
  readonly inner: string | null;
}

/**
 * Opens the store of one member in an SQLite file, creating it when missing.
 *
 * WAL with `synchronous = NORMAL`: a killed process loses nothing; a power cut may lose the last commits, never
 * the file (docs/decisions/2026-11-30-sqlite-durability.md).
 *
 * @throws AgentError `STORE_UNUSABLE` when the file is corrupt, read-only or of a newer version, `STORE_FULL` when
 * there is no space for it; both from every method, too.
 */
export function openSqliteStore(file: string): Store {
  const db = open(file);
  migrate(db);
  const statements = new Map<string, StatementSync>();
  const sql = (text: string): StatementSync => {
    let statement = statements.get(text);
    if (statement === undefined) statements.set(text, (statement = db.prepare(text)));
    return statement;
  };
  const sessionRow = (id: string): SessionRow | undefined => sql(SQL.session).get(id) as SessionRow | undefined;
  const transaction = <T>(body: () => T): T => {
    sql("BEGIN IMMEDIATE").run();
    try {
      const result = body();
      sql("COMMIT").run();
      return result;
    } catch (error) {
      if (db.isTransaction) sql("ROLLBACK").run();
      throw error;
    }
  };

  const insertSession = (sessionId: string, input: OpenInput): number => {
    const owner = JSON.stringify(input.initiator);
    const row = sql(SQL.insertSession).get(sessionId, input.nodeId, owner) as { pk: number };
    return row.pk;
  };

  const commit = ({ sessionId, version, entries, taken, posts, active, ended }: Commit): void => {
    const session = sessionRow(sessionId);
    if (session === undefined || session.version !== version) throw new StaleVersion(sessionId);
    let seq = version;
    let index = session.next_index;
    for (const stored of entries) {
      const { kind, type, data, inner } = toRow(stored);
      const idx = kind === KIND.fact ? null : index++;
      sql(SQL.insertEntry).run(session.pk, seq++, idx, kind, type, stored.id ?? null, stored.at, data, inner);
    }
    if (taken !== undefined) sql(SQL.takeMail).run(taken);
    for (const post of posts) {
      const target = sessionRow(post.sessionId)?.pk;
      if (target === undefined && post.input.kind !== "open") continue;
      const pk = target ?? insertSession(post.sessionId, post.input as OpenInput);
      const { changes } = sql(SQL.insertMail).run(pk, post.id, JSON.stringify(post.input), null);
      if (Number(changes) > 0) sql(SQL.wake).run(pk);
    }
    const busy = active || sql(SQL.moreMail).get(session.pk) !== undefined;
    const { changes } = sql(SQL.updateSession).run(seq, index, Number(busy), Number(ended), session.pk, version);
    if (Number(changes) !== 1) throw new StaleVersion(sessionId);
  };

  return explainProblems({
    create: ({ sessionId, operationKey, digest, input }) =>
      transaction(() => {
        if (operationKey !== undefined) {
          const known = sql(SQL.operation).get(operationKey) as { session: string; digest: string | null } | undefined;
          if (known !== undefined) {
            return { sessionId: known.session, created: false, conflict: known.digest !== (digest ?? null) };
          }
          sql(SQL.insertOperation).run(operationKey, sessionId, digest ?? null);
        }
        const pk = insertSession(sessionId, input as OpenInput);
        sql(SQL.insertMail).run(pk, "open", JSON.stringify(input), null);
        return { sessionId, created: true, conflict: false };
      }),
    accept: (sessionId, id, input, digest) =>
      transaction(() => {
        const session = sessionRow(sessionId);
        if (session === undefined) return "unknown";
        if (session.ended === 1) return "ended";
        const { changes } = sql(SQL.insertMail).run(session.pk, id, JSON.stringify(input), digest ?? null);
        if (Number(changes) === 0) {
          const known = sql(SQL.digestOfMail).get(session.pk, id) as { digest: string | null };
          return known.digest === (digest ?? null) ? "duplicate" : "conflict";
        }
        sql(SQL.wake).run(session.pk);
        return "accepted";
      }),
    knows: (sessionId, id) => sql(SQL.knowsMail).get(sessionId, id) !== undefined,
    commit: (request) => transaction(() => commit(request)),
    load: (sessionId) => {
      const session = sessionRow(sessionId);
      if (session === undefined) return undefined;
      const rows = sql(SQL.load).all(session.pk) as unknown as LogRow[];
      return { version: session.version, entries: rows.map(toEntry) };
    },
    mail: (sessionId) =>
      (sql(SQL.mail).all(sessionId) as unknown as { position: number; body: string }[]).map((row) => ({
        position: row.position,
        input: JSON.parse(row.body),
      })),
    head: (sessionId) => {
      const row = sql(SQL.head).get(sessionId) as
        | { id: string; node: string; owner: string; ended: number; next_index: number }
        | undefined;
      if (row === undefined) return undefined;
      return {
        sessionId: row.id,
        nodeId: row.node,
        owner: JSON.parse(row.owner),
        ended: row.ended === 1,
        nextIndex: row.next_index,
      };
    },
    events: (sessionId, from, limit, maxLength = Infinity) => {
      const events: StoredEvent[] = [];
      let length = 0;
      try {
        // Row by row: what does not fit is never read into memory.
        for (const row of sql(SQL.events).iterate(sessionId, from, limit) as Iterable<unknown> as Iterable<LogRow>) {
          const line = toLine(row);
          length += line.length;
          if (events.length > 0 && length > maxLength) break;
          events.push({ index: row.idx, line });
        }
      } catch (error) {
        // An iteration that failed would fail the next one, too, of whatever session.
        statements.delete(SQL.events);
        throw error;
      }
      return events;
    },
    active: () => (sql(SQL.active).all() as unknown as { id: string }[]).map((row) => row.id),
    secret: () =>
      transaction(() => {
        const known = sql(SQL.secret).get() as { value: string } | undefined;
        if (known !== undefined) return known.value;
        const value = randomBytes(32).toString("base64url");
        sql(SQL.insertSecret).run(value);
        return value;
      }),
    close: () => db.close(),
  });
}

function open(file: string): DatabaseSync {
  let db: DatabaseSync | undefined;
  try {
    db = new DatabaseSync(file);
    // What may only be read opens without an error, and then fails at every message.
    if (file !== ":memory:") accessSync(file, constants.W_OK);
    return db;
  } catch (error) {
    db?.close();
    throw toUnusable(error);
  }
}

function toRow({ entry }: StoredEntry): { kind: number; type: string; data: string; inner: string | null } {
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

function toEntry({ kind, type, data, inner }: LogRow): Entry {
  if (kind === KIND.fact) return { public: false, type: type as FactType, data: JSON.parse(data) } as Entry;
  const entry = { public: true, type, data: JSON.parse(data) };
  return (inner === null ? entry : { ...entry, inner: JSON.parse(inner) }) as Entry;
}

/** The event as it is sent. Only a message says, in its `meta`, which deliveries it was. */
function toLine({ type, id, at, data, inner }: LogRow): string {
  const meta: Record<string, unknown> = { id, at: new Date(at).toISOString() };
  if (type === "message.received" && inner !== null) meta.deliveryIds = JSON.parse(inner).deliveryIds;
  return `{"type":${JSON.stringify(type)},"data":${data},"meta":${JSON.stringify(meta)}}`;
}
