import type { RemoveOutcome } from "../../../engine/ports.ts";
import type { Database } from "../database.ts";
import type { CleanStep, RemovalStep } from "../store.ts";
import type { Gone } from "./sessions.ts";

/** What a step of cleaning deletes at most: others wait for it. */
const ROWS = 200;
const BYTES = 256 * 1024;
/** Descendants that become unknown with their root at once; those of a larger tree follow in the steps after it. */
const TREE = 500;

/** Free pages are used again; only when they are many and a large part of the file is it made smaller. */
const FREE_PAGES = 2_500;
const FREE_SHARE = 1 / 4;
/** Pages that one step gives back. */
const SHRINK_PAGES = 64;

const TARGET = "SELECT pk, parent, ended, gone FROM sessions WHERE id = ?";
const BEGIN = "UPDATE sessions SET gone = ?, gone_at = ?, due = NULL WHERE pk = ?";
const BEGIN_BELOW = `UPDATE sessions SET gone = 'ending', gone_at = ?, due = NULL WHERE gone IS NULL AND pk IN (
  WITH RECURSIVE tree (pk) AS (
    SELECT pk FROM sessions WHERE parent = ?
    UNION ALL
    SELECT s.pk FROM tree t JOIN sessions s ON s.parent = t.pk
  ) SELECT pk FROM tree LIMIT ?)`;
/** A child opened since, or one of a large tree. */
const BEGIN_CHILDREN = `UPDATE sessions SET gone = 'ending', due = NULL,
  gone_at = (SELECT p.gone_at FROM sessions p WHERE p.pk = sessions.parent) WHERE pk IN (
  SELECT c.pk FROM sessions p JOIN sessions c ON c.parent = p.pk WHERE p.gone = 'ending' AND c.gone IS NULL LIMIT ?)`;
const ENDED = `UPDATE sessions SET gone = 'removing' WHERE gone = 'ending' AND pk IN (
  SELECT s.pk FROM sessions s WHERE s.gone = 'ending' AND ((s.ended = 1 AND s.active = 0) OR s.gone_at <= ?)
    AND NOT EXISTS (SELECT 1 FROM sessions c WHERE c.parent = s.pk AND (c.gone IS NULL OR c.gone = 'ending'))
  LIMIT ?) RETURNING id`;
const ENDING = "SELECT 1 FROM sessions WHERE gone = 'ending' LIMIT 1";
/** Never while a descendant still works: what it has to do comes first. */
const EXPIRE = `UPDATE sessions SET gone = 'sweeping', due = NULL WHERE pk IN (
  SELECT r.pk FROM sessions r WHERE r.ended_at <= ? AND r.parent IS NULL AND r.gone IS NULL AND r.active = 0
    AND NOT EXISTS (
      WITH RECURSIVE tree (pk) AS (
        SELECT pk FROM sessions WHERE parent = r.pk
        UNION ALL
        SELECT s.pk FROM tree t JOIN sessions s ON s.parent = t.pk
      ) SELECT 1 FROM tree t JOIN sessions d ON d.pk = t.pk WHERE d.active = 1 OR d.ended = 0)
  ORDER BY r.ended_at LIMIT ?) RETURNING id`;
const EARLIEST_END =
  "SELECT min(ended_at) AS at FROM sessions WHERE ended_at IS NOT NULL AND parent IS NULL AND gone IS NULL";

/** Children are younger than their parents, so a parent's row goes last. */
const NEXT = "SELECT pk, id, gone FROM sessions WHERE gone = ? ORDER BY pk DESC LIMIT 1";
const PASS_ON = {
  removing: `UPDATE sessions SET gone = 'removing', due = NULL WHERE pk IN (
    SELECT pk FROM sessions WHERE parent = ? AND (gone IS NULL OR gone IN ('sweeping', 'swept')) LIMIT ?)`,
  sweeping: `UPDATE sessions SET gone = 'sweeping', due = NULL WHERE pk IN (
    SELECT pk FROM sessions WHERE parent = ? AND gone IS NULL LIMIT ?)`,
} as const;
const LOG_ROWS = `SELECT seq, octet_length(data) + coalesce(octet_length(inner), 0) AS size FROM log WHERE session = ?
  ORDER BY seq LIMIT ?`;
const DELETE_LOG = "DELETE FROM log WHERE session = ? AND seq <= ?";
const DELETE_MAIL = "DELETE FROM mail WHERE position IN (SELECT position FROM mail WHERE session = ? LIMIT ?)";
const DELETE_SNAPSHOT = "DELETE FROM snapshots WHERE session = ?";
const DELETE_OPERATION = "DELETE FROM operations WHERE session = ?";
const DELETE_SESSION = "DELETE FROM sessions WHERE pk = ?";
const SWEPT = "UPDATE sessions SET gone = 'swept', stopped = NULL WHERE pk = ?";

/** How sessions leave the store, a few rows at a time: removed with all there is of them, or swept to a tombstone. */
export interface Removal {
  /** `ending` when the session still has to be told to end. */
  begin(sessionId: string, at: number): RemoveOutcome | "ending";
  endRemovals(before: number, limit: number): RemovalStep;
  expire(before: number, limit: number): readonly string[];
  earliestEnd(): number | undefined;
  clean(): CleanStep;
  shrink(): boolean;
}

export function createRemoval({ sql }: Database): Removal {
  const ids = (rows: unknown): string[] => (rows as { id: string }[]).map(({ id }) => id);

  const deleteLog = (session: number): boolean => {
    let size = 0;
    let last: number | undefined;
    for (const row of sql(LOG_ROWS).all(session, ROWS) as unknown as { seq: number; size: number }[]) {
      size += row.size;
      if (last !== undefined && size > BYTES) break;
      last = row.seq;
    }
    if (last === undefined) return false;
    sql(DELETE_LOG).run(session, last);
    return true;
  };

  return {
    begin: (sessionId, at) => {
      const target = sql(TARGET).get(sessionId) as
        | { pk: number; parent: number | null; ended: number; gone: Gone | null }
        | undefined;
      if (target === undefined || target.gone === "ending" || target.gone === "removing") return "unknown";
      if (target.parent !== null) return "child";
      sql(DELETE_OPERATION).run(sessionId);
      if (target.gone !== null) {
        sql(BEGIN).run("removing", at, target.pk);
        return "removed";
      }
      sql(BEGIN).run("ending", at, target.pk);
      sql(BEGIN_BELOW).run(at, target.pk, TREE);
      return target.ended === 1 ? "removed" : "ending";
    },
    endRemovals: (before, limit) => {
      const children = Number(sql(BEGIN_CHILDREN).run(TREE).changes);
      const sessionIds = ids(sql(ENDED).all(before, limit));
      return { sessionIds, more: children + sessionIds.length > 0, left: sql(ENDING).get() !== undefined };
    },
    expire: (before, limit) => ids(sql(EXPIRE).all(before, limit)),
    earliestEnd: () => (sql(EARLIEST_END).get() as { at: number | null }).at ?? undefined,
    clean: () => {
      const row = (sql(NEXT).get("removing") ?? sql(NEXT).get("sweeping")) as
        | { pk: number; id: string; gone: keyof typeof PASS_ON }
        | undefined;
      if (row === undefined) return { more: false };
      const { pk, id, gone } = row;
      if (Number(sql(PASS_ON[gone]).run(pk, ROWS).changes) > 0) return { more: true };
      if (deleteLog(pk) || Number(sql(DELETE_MAIL).run(pk, ROWS).changes) > 0) return { more: true };
      sql(DELETE_SNAPSHOT).run(pk);
      sql(DELETE_OPERATION).run(id);
      sql(gone === "removing" ? DELETE_SESSION : SWEPT).run(pk);
      return { removed: id, more: true };
    },
    shrink: () => {
      const { freelist_count: free } = sql("PRAGMA freelist_count").get() as { freelist_count: number };
      if (free < FREE_PAGES) return false;
      const { page_count: pages } = sql("PRAGMA page_count").get() as { page_count: number };
      if (free < pages * FREE_SHARE) return false;
      sql(`PRAGMA incremental_vacuum(${SHRINK_PAGES})`).all();
      // A file of version 1 was made without what this needs.
      return (sql("PRAGMA freelist_count").get() as { freelist_count: number }).freelist_count < free;
    },
  };
}
