import { STATE_FORMAT, type SessionState } from "../../../engine/state.ts";
import type { Database } from "../database.ts";

const WRITE = `INSERT INTO snapshots (session, version, format, state) VALUES (?, ?, ?, ?)
  ON CONFLICT (session) DO UPDATE SET version = excluded.version, format = excluded.format, state = excluded.state`;
const READ = "SELECT version, state FROM snapshots WHERE session = ? AND format = ? AND version <= ?";

/** A state that was kept, and the version of the log that it is the fold of. */
export interface Snapshot {
  readonly version: number;
  readonly state: SessionState;
  /** Characters. */
  readonly length: number;
}

/** One kept fold a session. The log is the truth: what can not be used is as good as missing. */
export interface SnapshotTable {
  /** Returns its length. */
  write(session: number, version: number, state: SessionState): number;
  /** The kept state, unless it is later than `version` or of another format. */
  read(session: number, version: number): Snapshot | undefined;
}

export function createSnapshotTable({ sql }: Database): SnapshotTable {
  return {
    write: (session, version, state) => {
      const text = JSON.stringify(state);
      sql(WRITE).run(session, version, STATE_FORMAT, text);
      return text.length;
    },
    read: (session, version) => {
      const row = sql(READ).get(session, STATE_FORMAT, version) as { version: number; state: string } | undefined;
      const state = row && parse(row.state);
      return state && { version: row.version, state, length: row.state.length };
    },
  };
}

function parse(text: string): SessionState | undefined {
  try {
    return JSON.parse(text) as SessionState;
  } catch {
    return undefined;
  }
}
