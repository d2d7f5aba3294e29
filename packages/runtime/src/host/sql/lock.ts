import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { AgentError } from "../../errors.ts";
import { resultCodeOf, toOpenProblem } from "./unusable.ts";

/** Result code of SQLite: somebody else holds the lock. */
const SQLITE_BUSY = 5;

/** Long enough for an owner that is just shutting down. */
const PATIENCE_MS = 3_000;

/**
 * Makes this process the only owner of a store, for as long as it lives: the system lets go of the lock when the
 * process ends, however it ends. Readers of the store are not shut out. Creates the folder when missing.
 *
 * @throws AgentError `STORE_LOCKED` when another process owns it, `STORE_UNUSABLE` or `STORE_FULL` when nobody
 * can.
 */
export function lockStore(
  file: string,
  patienceMs: number = PATIENCE_MS,
): { readonly describe: (owner: Readonly<Record<string, unknown>>) => void; readonly release: () => void } {
  const ownerFile = `${file}.json`;
  const describe = (owner: Readonly<Record<string, unknown>>): void => writeFileSync(ownerFile, JSON.stringify(owner));
  let db: DatabaseSync | undefined;
  try {
    mkdirSync(dirname(file), { recursive: true });
    const opened = (db = new DatabaseSync(file));
    opened.exec(`PRAGMA busy_timeout = ${patienceMs}; PRAGMA journal_mode = DELETE; BEGIN EXCLUSIVE;`);
    describe({ pid: process.pid });
    return { describe, release: () => opened.close() };
  } catch (error) {
    db?.close();
    if (resultCodeOf(error) !== SQLITE_BUSY) throw toOpenProblem(error);
    throw new AgentError("STORE_LOCKED", `Another process uses this store${describeOwner(ownerFile)}.`, {
      fix: "Stop it, or give this one a store of its own with EVE_STORE.",
      cause: error,
    });
  }
}

function describeOwner(file: string): string {
  try {
    const { pid, port } = JSON.parse(readFileSync(file, "utf8")) as { pid?: number; port?: number };
    return port === undefined ? ` (pid ${pid})` : ` (pid ${pid}, port ${port})`;
  } catch {
    return "";
  }
}
