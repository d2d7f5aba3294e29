import type { SessionHead, SessionList } from "../../../engine/ports.ts";
import { AgentError } from "../../../errors.ts";
import type { Principal } from "../../../protocol/principal.ts";
import type { Database } from "../database.ts";
import type { Gone } from "./sessions.ts";

const HEAD = `SELECT pk, id, node, agent, owner, working, ended, gone, next_index, created_at, updated_at, ended_at, parent
  FROM sessions`;
const ONE = `${HEAD} WHERE id = ?`;
const ID = "SELECT id FROM sessions WHERE pk = ?";
const PAGE = `${HEAD} WHERE pk < ? AND parent IS NULL AND gone IS NULL ORDER BY pk DESC LIMIT ?`;
const PAGE_OF_OWNER = `${HEAD} WHERE owner_key = ? AND pk < ? AND parent IS NULL AND gone IS NULL ORDER BY pk DESC LIMIT ?`;
const STARTING_WITH = `SELECT id FROM sessions WHERE id >= ? AND id < ? AND (gone IS NULL OR gone IN ('sweeping', 'swept'))
  ORDER BY id LIMIT ?`;
const BELOW = `WITH RECURSIVE tree (pk, id, depth) AS (
    SELECT pk, id, 0 FROM sessions WHERE id = ? AND gone IS NULL
    UNION ALL
    SELECT s.pk, s.id, depth + 1 FROM tree t JOIN sessions s ON s.parent = t.pk AND s.gone IS NULL
  ) SELECT id FROM tree WHERE depth > 0 ORDER BY depth, pk`;

interface HeadRow {
  readonly pk: number;
  readonly id: string;
  readonly node: string;
  readonly agent: string;
  readonly owner: string;
  readonly working: number;
  readonly ended: number;
  readonly gone: Gone | null;
  readonly next_index: number;
  readonly created_at: number;
  readonly updated_at: number;
  readonly ended_at: number | null;
  readonly parent: number | null;
}

/** The sessions of a store as others see them. */
export interface HeadTable {
  head(sessionId: string): SessionHead | undefined;
  list(request: { readonly owner?: Principal; readonly limit: number; readonly cursor?: string }): SessionList;
  descendants(sessionId: string): readonly string[];
  startingWith(beginning: string, limit: number): readonly string[];
}

export function createHeadTable({ sql }: Database): HeadTable {
  return {
    head: (sessionId) => {
      const row = sql(ONE).get(sessionId) as HeadRow | undefined;
      if (row === undefined || row.gone === "ending" || row.gone === "removing") return undefined;
      const parent = row.parent === null ? undefined : (sql(ID).get(row.parent) as { id: string } | undefined);
      return parent === undefined ? toHead(row) : { ...toHead(row), parentSessionId: parent.id };
    },
    list: ({ owner, limit, cursor }) => {
      const before = cursor === undefined ? Number.MAX_SAFE_INTEGER : parseCursor(cursor);
      // One more than asked for tells whether there is another page.
      const found = (owner === undefined
        ? sql(PAGE).all(before, limit + 1)
        : sql(PAGE_OF_OWNER).all(ownerKey(owner), before, limit + 1)) as unknown as HeadRow[];
      const rows = found.slice(0, limit);
      return {
        sessions: rows.map(toHead),
        ...(found.length > rows.length && rows.length > 0 ? { cursor: String(rows.at(-1)!.pk) } : {}),
      };
    },
    descendants: (sessionId) => ids(sql(BELOW).all(sessionId)),
    // The last of all characters ends every id that begins so.
    startingWith: (beginning, limit) => ids(sql(STARTING_WITH).all(beginning, `${beginning}\u{10ffff}`, limit)),
  };
}

function ids(rows: unknown): string[] {
  return (rows as { id: string }[]).map(({ id }) => id);
}

/** What two principals have in common who are the same one. */
export function ownerKey({ authenticator, principalId }: Principal): string {
  return JSON.stringify([authenticator, principalId]);
}

function parseCursor(cursor: string): number {
  if (/^[1-9]\d{0,14}$/.test(cursor)) return Number(cursor);
  throw new AgentError("BAD_REQUEST", "cursor: is none that a list of sessions gave.", {
    fix: "Repeat the cursor of the page before as it was, or leave it out to begin with the newest session.",
  });
}

function toHead(row: HeadRow): SessionHead {
  const ended = row.ended === 1;
  return {
    sessionId: row.id,
    nodeId: row.node,
    agentName: row.agent,
    owner: JSON.parse(row.owner),
    status: ended ? "ended" : row.working === 1 ? "working" : "waiting",
    ended,
    ...(row.gone === null ? {} : { swept: true }),
    nextIndex: row.next_index,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    ...(row.ended_at === null ? {} : { endedAt: row.ended_at }),
  };
}
