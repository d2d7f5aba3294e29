import { LOG_FORMAT } from "../../../engine/entry.ts";
import type { OpenInput } from "../../../engine/input.ts";
import { AgentError } from "../../../errors.ts";
import type { Database } from "../database.ts";
import type { Commit, DuePosition, Listed, SessionLog } from "../store.ts";
import { ownerKey } from "./heads.ts";
import type { LogEnd } from "./log.ts";

const FIND = "SELECT pk, version, next_index, ended, gone, format FROM sessions WHERE id = ?";
const LEFT = "SELECT stopped, due FROM sessions WHERE pk = ?";
const INSERT = `INSERT INTO sessions
  (id, node, owner, version, next_index, active, ended, working, format, agent, owner_key, parent, created_at, updated_at)
  VALUES (?, ?, ?, 0, 0, 1, 0, 1, ${LOG_FORMAT}, ?, ?, (SELECT pk FROM sessions WHERE id = ?), ?, ?) RETURNING pk`;
const WAKE = "UPDATE sessions SET active = 1, working = 1 WHERE pk = ?";
const UPDATE = `UPDATE sessions SET version = ?, next_index = ?, active = ?, working = ?, ended = ?, updated_at = ?,
  ended_at = coalesce(ended_at, ?), format = ${LOG_FORMAT} WHERE pk = ? AND version = ?`;
/** By itself: to set a column is to write its index anew. */
const SET_DUE = "UPDATE sessions SET due = ? WHERE pk = ?";
const NOTE_STOPPED = "UPDATE sessions SET stopped = ? WHERE id = ? AND version = ?";
const CLEAR_STOPPED = "UPDATE sessions SET stopped = NULL WHERE pk = ?";
/** A session that a later version has written to is left to that. */
const READABLE = `format <= ${LOG_FORMAT}`;
const ACTIVE = `SELECT id, pk FROM sessions WHERE active = 1 AND pk > ? AND ${READABLE} ORDER BY pk LIMIT ?`;
const DUE = `SELECT id, due, pk FROM sessions WHERE due <= ? AND ${READABLE} AND (due, pk) > (?, ?) ORDER BY due, pk LIMIT ?`;
const NEXT_DUE = "SELECT min(due) AS at FROM sessions WHERE due > ?";
const OVERDUE = "SELECT 1 FROM sessions WHERE due <= ? LIMIT 1";

/** What becomes of a session that is to be there no more, in the order in which it comes. */
export type Gone = "ending" | "removing" | "sweeping" | "swept";

export interface SessionRow {
  readonly pk: number;
  readonly version: number;
  readonly next_index: number;
  readonly ended: number;
  readonly gone: Gone | null;
  /** Of its log, see `LOG_FORMAT`. */
  readonly format: number;
}

/** The sessions of a store as their work sees them: where their log ends, and what there is to do. */
export interface SessionTable {
  find(sessionId: string): SessionRow | undefined;
  /** @throws AgentError `SESSION_STRANDED` for one that a later version has written to. */
  findReadable(sessionId: string): SessionRow | undefined;
  /** What an earlier process left beside the log. */
  left(session: number): Pick<SessionLog, "stopped" | "due">;
  insert(sessionId: string, input: OpenInput, at: number): number;
  /** There is mail for it. */
  wake(session: number): void;
  /** False when the log has grown since. */
  update(session: number, commit: Commit, end: LogEnd, unread: boolean): boolean;
  noteStopped(sessionId: string, version: number, effectIds: readonly string[]): void;
  clearStopped(session: number): void;
  active(after: number, limit: number): readonly Listed<number>[];
  due(now: number, after: DuePosition, limit: number): readonly Listed<DuePosition>[];
  nextDue(now: number): { readonly at: number | undefined; readonly overdue: boolean };
}

export function createSessionTable({ sql }: Database): SessionTable {
  const find = (sessionId: string): SessionRow | undefined => sql(FIND).get(sessionId) as SessionRow | undefined;
  return {
    find,
    findReadable: (sessionId) => {
      const session = find(sessionId);
      if (session !== undefined && session.format > LOG_FORMAT) throw stranded();
      return session;
    },
    left: (session) => {
      const { stopped, due } = sql(LEFT).get(session) as { stopped: string | null; due: number | null };
      return { stopped: stopped === null ? [] : JSON.parse(stopped), due: due ?? undefined };
    },
    insert: (sessionId, { nodeId, agentName, initiator, origin }, at) => {
      const parent = origin.kind === "local" ? origin.parentSessionId : null;
      const owner = JSON.stringify(initiator);
      const row = sql(INSERT).get(sessionId, nodeId, owner, agentName, ownerKey(initiator), parent, at, at);
      return (row as { pk: number }).pk;
    },
    wake: (session) => void sql(WAKE).run(session),
    update: (session, { version, at, active, working, ended, due }, { seq, index }, unread) => {
      const flags = [Number(active || unread), Number(working || unread), Number(ended)] as const;
      const { changes } = sql(UPDATE).run(seq, index, ...flags, at, ended ? at : null, session, version);
      if (due !== undefined) sql(SET_DUE).run(due, session);
      return Number(changes) === 1;
    },
    noteStopped: (sessionId, version, ids) => void sql(NOTE_STOPPED).run(JSON.stringify(ids), sessionId, version),
    clearStopped: (session) => void sql(CLEAR_STOPPED).run(session),
    active: (after, limit) =>
      (sql(ACTIVE).all(after, limit) as unknown as { id: string; pk: number }[]).map(({ id, pk }) => ({
        sessionId: id,
        position: pk,
      })),
    due: (now, after, limit) =>
      (sql(DUE).all(now, after.due, after.row, limit) as unknown as { id: string; due: number; pk: number }[]).map(
        ({ id, due, pk }) => ({ sessionId: id, position: { due, row: pk } }),
      ),
    nextDue: (now) => ({
      at: (sql(NEXT_DUE).get(now) as { at: number | null }).at ?? undefined,
      overdue: sql(OVERDUE).get(now) !== undefined,
    }),
  };
}

function stranded(): AgentError {
  return new AgentError("SESSION_STRANDED", "A later version of the runtime has gone on with this session.", {
    fix: "Run that version again, or go on in a new session; its events can be read and exported here.",
  });
}
