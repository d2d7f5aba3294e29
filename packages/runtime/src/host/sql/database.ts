import { accessSync, constants } from "node:fs";
import { DatabaseSync, type StatementSync } from "node:sqlite";
import { checkVersion, migrate } from "./migrations.ts";
import { toOpenProblem } from "./unusable.ts";

/** A connection to the file of a store, with its prepared statements. */
export interface Database {
  /** The statement of a text, prepared once. */
  sql(text: string): StatementSync;
  /** Forgets a statement that can not be used any more. */
  discard(text: string): void;
  /** Runs `body` with all of its writes or none. */
  transaction<T>(body: () => T): T;
  /** Prepares all statements anew: one that failed half-way says so again to whoever uses it next. */
  renew(): void;
  close(): void;
}

/**
 * Opens the file of a store in its current version, creating it when missing.
 *
 * WAL with `synchronous = NORMAL`: a killed process loses nothing; a power cut may lose the last commits, never
 * the file (docs/decisions/2026-11-30-sqlite-durability.md).
 *
 * @throws AgentError `STORE_UNUSABLE` when the file is corrupt, read-only or of a newer version.
 */
export function openDatabase(file: string): Database {
  return connect(open(file));
}

/**
 * Opens the file of a store to be read, whoever else uses it: it is never written, migrated or created.
 *
 * @throws AgentError `STORE_UNUSABLE` when the file is missing, corrupt, or of another version.
 */
export function openReadOnlyDatabase(file: string): Database {
  let db: DatabaseSync | undefined;
  try {
    db = new DatabaseSync(file, { readOnly: true });
    db.exec("PRAGMA busy_timeout = 5000;");
    checkVersion(db);
    return connect(db);
  } catch (error) {
    db?.close();
    throw toOpenProblem(error);
  }
}

/** A connection that is open and set up. */
export function connect(db: DatabaseSync): Database {
  const statements = new Map<string, StatementSync>();
  const sql = (text: string): StatementSync => {
    let statement = statements.get(text);
    if (statement === undefined) statements.set(text, (statement = db.prepare(text)));
    return statement;
  };
  return {
    sql,
    discard: (text) => void statements.delete(text),
    transaction: (body) => {
      sql("BEGIN IMMEDIATE").run();
      try {
        const result = body();
        sql("COMMIT").run();
        return result;
      } catch (error) {
        if (db.isTransaction) sql("ROLLBACK").run();
        throw error;
      }
    },
    renew: () => statements.clear(),
    close: () => db.close(),
  };
}

function open(file: string): DatabaseSync {
  let db: DatabaseSync | undefined;
  try {
    db = new DatabaseSync(file);
    // What may only be read opens without an error, and then fails at every message.
    if (file !== ":memory:") accessSync(file, constants.W_OK);
    migrate(db);
    return db;
  } catch (error) {
    db?.close();
    throw toOpenProblem(error);
  }
}
