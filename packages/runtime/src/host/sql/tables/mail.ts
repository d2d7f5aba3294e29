import type { MailInput } from "../../../engine/input.ts";
import type { Database } from "../database.ts";
import type { Mail } from "../store.ts";

const INSERT = "INSERT INTO mail (session, id, body, digest) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING";
const DIGEST = "SELECT digest FROM mail WHERE session = ? AND id = ?";
const KNOWS = "SELECT 1 FROM mail m JOIN sessions s ON s.pk = m.session WHERE s.id = ? AND s.gone IS NULL AND m.id = ?";
const UNREAD =
  "SELECT m.position, m.body FROM mail m JOIN sessions s ON s.pk = m.session WHERE s.id = ? AND m.body IS NOT NULL ORDER BY m.position";
const TAKE = "UPDATE mail SET body = NULL WHERE position = ?";
const MORE = "SELECT 1 FROM mail WHERE session = ? AND body IS NOT NULL LIMIT 1";

/** Accepted messages. One that was processed keeps its id and digest, so that it is known when it comes again. */
export interface MailTable {
  /** False when a message of this id is there. */
  insert(session: number, id: string, input: MailInput, digest?: string): boolean;
  digestOf(session: number, id: string): string | null;
  knows(sessionId: string, id: string): boolean;
  unread(sessionId: string): readonly Mail[];
  take(position: number): void;
  hasUnread(session: number): boolean;
}

export function createMailTable({ sql }: Database): MailTable {
  return {
    insert: (session, id, input, digest) =>
      Number(sql(INSERT).run(session, id, JSON.stringify(input), digest ?? null).changes) > 0,
    digestOf: (session, id) => (sql(DIGEST).get(session, id) as { digest: string | null }).digest,
    knows: (sessionId, id) => sql(KNOWS).get(sessionId, id) !== undefined,
    unread: (sessionId) =>
      (sql(UNREAD).all(sessionId) as unknown as { position: number; body: string }[]).map(({ position, body }) => ({
        position,
        input: JSON.parse(body),
      })),
    take: (position) => void sql(TAKE).run(position),
    hasUnread: (session) => sql(MORE).get(session) !== undefined,
  };
}
