import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { ROOT } from "./build-workspace.ts";

/** Where the recorded stores are, one a folder. */
const STORES = join(ROOT, "test/stores");

export interface RecordedSession {
  /** What it was doing when its process was killed; `check-upgrade.ts` knows what must become of each. */
  readonly state: string;
  readonly sessionId: string;
  /** What a reader of its stream had read, as it was sent. */
  readonly lines: readonly string[];
  /** The last request to it, which can be repeated. */
  readonly operation?: { readonly operationId: string; readonly message: string };
  /** Of the callback that it was opened with. */
  readonly callId?: string;
  /** Where the remote agent that it waits for was asked to call back. */
  readonly callbackPath?: string;
}

/** What `expected.json` holds. */
export interface Expected {
  readonly sessions: readonly RecordedSession[];
  /** Idempotency keys of the tool calls that had ended, and of those that the kill stopped. */
  readonly tools: { readonly finished: readonly string[]; readonly running: readonly string[] };
}

export interface RecordedStore extends Expected {
  readonly name: string;
  /** The database that a killed process left. */
  readonly database: string;
}

/** All stores of previous versions. */
export function readRecordedStores(): RecordedStore[] {
  return readdirSync(STORES)
    .filter((name) => existsSync(join(STORES, name, "expected.json")))
    .map((name) => ({
      name,
      database: join(STORES, name, "store.db"),
      ...(JSON.parse(readFileSync(join(STORES, name, "expected.json"), "utf8")) as Expected),
    }));
}

/** Keeps what a killed process left in `storeFolder`: the database with its log folded in, without unused pages. */
export function saveRecordedStore(name: string, storeFolder: string, expected: Expected): void {
  const folder = join(STORES, name);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const db = new DatabaseSync(join(storeFolder, "store.db"));
  db.exec("PRAGMA wal_checkpoint(TRUNCATE); VACUUM; PRAGMA wal_checkpoint(TRUNCATE);");
  db.close();
  copyFileSync(join(storeFolder, "store.db"), join(folder, "store.db"));
  writeFileSync(join(folder, "expected.json"), `${JSON.stringify(expected, undefined, 2)}\n`);
}
