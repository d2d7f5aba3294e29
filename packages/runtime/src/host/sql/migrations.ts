import type { DatabaseSync } from "node:sqlite";
import { AgentError } from "../../errors.ts";

/** Each brings the file from the version of its position to the next. Never edited once released. */
export const MIGRATIONS = [
  `CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
   CREATE TABLE sessions (
     pk INTEGER PRIMARY KEY,
     id TEXT NOT NULL UNIQUE,
     node TEXT NOT NULL,
     owner TEXT NOT NULL,
     version INTEGER NOT NULL,
     next_index INTEGER NOT NULL,
     active INTEGER NOT NULL,
     ended INTEGER NOT NULL
   );
   CREATE INDEX sessions_active ON sessions (pk) WHERE active = 1;
   CREATE TABLE operations (key TEXT PRIMARY KEY, session TEXT NOT NULL, digest TEXT) WITHOUT ROWID;
   CREATE TABLE mail (
     position INTEGER PRIMARY KEY,
     session INTEGER NOT NULL,
     id TEXT NOT NULL,
     body TEXT,
     digest TEXT,
     UNIQUE (session, id)
   );
   CREATE INDEX mail_waiting ON mail (session, position) WHERE body IS NOT NULL;
   CREATE TABLE log (
     session INTEGER NOT NULL,
     seq INTEGER NOT NULL,
     idx INTEGER,
     kind INTEGER NOT NULL,
     type TEXT NOT NULL,
     id TEXT,
     at INTEGER NOT NULL,
     data TEXT NOT NULL,
     inner TEXT,
     PRIMARY KEY (session, seq)
   ) WITHOUT ROWID;
   CREATE UNIQUE INDEX log_events ON log (session, idx) WHERE idx IS NOT NULL;`,
  // `parent`: a local child's. `owner_key`: who may list it. `working`: a turn is under way or mail is unread. `due`:
  // when it wants to be told the time. `stopped`: effects that a clean stop left. `gone`: NULL, or what becomes of it:
  // ending → removing (its row goes, too), sweeping → swept.
  `ALTER TABLE sessions ADD COLUMN parent INTEGER;
   ALTER TABLE sessions ADD COLUMN agent TEXT NOT NULL DEFAULT '';
   ALTER TABLE sessions ADD COLUMN owner_key TEXT NOT NULL DEFAULT '';
   ALTER TABLE sessions ADD COLUMN created_at INTEGER NOT NULL DEFAULT 0;
   ALTER TABLE sessions ADD COLUMN updated_at INTEGER NOT NULL DEFAULT 0;
   ALTER TABLE sessions ADD COLUMN ended_at INTEGER;
   ALTER TABLE sessions ADD COLUMN working INTEGER NOT NULL DEFAULT 0;
   ALTER TABLE sessions ADD COLUMN due INTEGER;
   ALTER TABLE sessions ADD COLUMN stopped TEXT;
   ALTER TABLE sessions ADD COLUMN format INTEGER NOT NULL DEFAULT 1;
   ALTER TABLE sessions ADD COLUMN gone TEXT;
   ALTER TABLE sessions ADD COLUMN gone_at INTEGER;
   CREATE TEMP TABLE opened (pk INTEGER PRIMARY KEY, data TEXT NOT NULL);
   INSERT INTO opened
     SELECT pk, coalesce(
       (SELECT data FROM log WHERE session = pk AND seq = 0 AND type = 'session.opened'),
       (SELECT body FROM mail WHERE session = pk AND id = 'open'),
       '{}'
     ) FROM sessions;
   UPDATE sessions SET
     agent = coalesce((SELECT data ->> '$.agentName' FROM opened o WHERE o.pk = sessions.pk), ''),
     parent = (
       SELECT p.pk FROM opened o JOIN sessions p ON p.id = o.data ->> '$.origin.parentSessionId' WHERE o.pk = sessions.pk
     ),
     owner_key = json_array(owner ->> '$.authenticator', owner ->> '$.principalId'),
     created_at = coalesce((SELECT at FROM log WHERE session = pk ORDER BY seq LIMIT 1), unixepoch() * 1000),
     updated_at = coalesce((SELECT at FROM log WHERE session = pk ORDER BY seq DESC LIMIT 1), unixepoch() * 1000),
     working = coalesce((
       SELECT type = 'turn.started' FROM log WHERE session = pk
         AND type IN ('turn.started', 'turn.completed', 'turn.failed', 'turn.cancelled', 'session.completed')
       ORDER BY seq DESC LIMIT 1
     ), 0) OR EXISTS (SELECT 1 FROM mail WHERE session = pk AND body IS NOT NULL);
   UPDATE sessions SET ended_at = coalesce((
       SELECT at FROM log WHERE session = pk AND type = 'session.completed' ORDER BY seq DESC LIMIT 1
     ), updated_at) WHERE ended = 1;
   DROP TABLE opened;
   CREATE INDEX sessions_due ON sessions (due, pk) WHERE due IS NOT NULL;
   CREATE INDEX sessions_kept ON sessions (ended_at, pk) WHERE ended_at IS NOT NULL AND parent IS NULL AND gone IS NULL;
   CREATE INDEX sessions_gone ON sessions (gone, pk) WHERE gone IS NOT NULL;
   CREATE INDEX sessions_children ON sessions (parent, pk) WHERE parent IS NOT NULL;
   CREATE INDEX sessions_owned ON sessions (owner_key, pk) WHERE parent IS NULL AND gone IS NULL;
   CREATE INDEX operations_session ON operations (session);
   CREATE TABLE snapshots (
     session INTEGER PRIMARY KEY,
     version INTEGER NOT NULL,
     format INTEGER NOT NULL,
     state TEXT NOT NULL
   );`,
] as const;

/**
 * Sets up the connection and brings the file to the current version.
 *
 * @throws AgentError `STORE_UNUSABLE`, `STORE_FULL`
 */
export function migrate(db: DatabaseSync): void {
  // Without effect on a file that has tables.
  db.exec("PRAGMA auto_vacuum = INCREMENTAL; PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;");
  // A file that can be read and not written must not be found out by the first message.
  db.exec("PRAGMA busy_timeout = 5000; BEGIN IMMEDIATE; ROLLBACK;");
  const version = readVersion(db);
  MIGRATIONS.slice(version).forEach((statements, offset) => {
    db.exec(`BEGIN IMMEDIATE; ${statements} PRAGMA user_version = ${version + offset + 1}; COMMIT;`);
  });
}

/**
 * Refuses a file of another version than the current one.
 *
 * @throws AgentError `STORE_UNUSABLE`
 */
export function checkVersion(db: DatabaseSync): void {
  const version = readVersion(db);
  if (version === MIGRATIONS.length) return;
  const what = version === 0 ? "The file holds no store yet" : `The store is of the earlier version ${version}`;
  throw new AgentError("STORE_UNUSABLE", `${what}; what is read here is version ${MIGRATIONS.length}.`, {
    fix: "Start its member once (`eve dev` or `eve start`): that brings the store to this version.",
    data: { version },
  });
}

function readVersion(db: DatabaseSync): number {
  const { user_version: version } = db.prepare("PRAGMA user_version").get() as { user_version: number };
  if (version <= MIGRATIONS.length) return version;
  throw new AgentError(
    "STORE_UNUSABLE",
    `The store is of version ${version}; this runtime knows up to ${MIGRATIONS.length}.`,
    {
      fix: "Run the runtime that wrote it, or point EVE_STORE at another folder.",
      data: { version },
    },
  );
}
