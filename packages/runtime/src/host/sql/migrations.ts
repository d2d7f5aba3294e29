import type { DatabaseSync } from "node:sqlite";
import { AgentError } from "../../errors.ts";
import { toUnusable } from "./unusable.ts";

/** Each brings the file from the version of its position to the next. Never edited once released. */
const MIGRATIONS = [
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
] as const;

/**
 * Sets up the connection and brings the file to the current version.
 *
 * @throws AgentError `STORE_UNUSABLE`, `STORE_FULL`
 */
export function migrate(db: DatabaseSync): void {
  const version = configure(db);
  if (version > MIGRATIONS.length) {
    db.close();
    throw new AgentError(
      "STORE_UNUSABLE",
      `The store is of version ${version}; this runtime knows up to ${MIGRATIONS.length}.`,
      {
        fix: "Run the runtime that wrote it, or point EVE_STORE at another folder.",
        data: { version },
      },
    );
  }
  try {
    MIGRATIONS.slice(version).forEach((statements, offset) => {
      db.exec(`BEGIN IMMEDIATE; ${statements} PRAGMA user_version = ${version + offset + 1}; COMMIT;`);
    });
  } catch (error) {
    db.close();
    throw toUnusable(error);
  }
}

function configure(db: DatabaseSync): number {
  try {
    db.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA busy_timeout = 5000;");
    return (db.prepare("PRAGMA user_version").get() as { user_version: number }).user_version;
  } catch (error) {
    db.close();
    throw toUnusable(error);
  }
}
