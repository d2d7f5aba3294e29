import { randomBytes } from "node:crypto";
import type { OpenInput } from "../../engine/input.ts";
import { openDatabase, openReadOnlyDatabase, type Database } from "./database.ts";
import { StaleVersion, type Commit, type Store, type StoreReader, type Written } from "./store.ts";
import { createHeadTable } from "./tables/heads.ts";
import { createLogTable } from "./tables/log.ts";
import { createMailTable } from "./tables/mail.ts";
import { createRemoval } from "./tables/removal.ts";
import { createSessionTable } from "./tables/sessions.ts";
import { createSnapshotTable } from "./tables/snapshots.ts";
import { resultCodeOf, toStoreProblem } from "./unusable.ts";

const OPERATION = "SELECT session, digest FROM operations WHERE key = ?";
const INSERT_OPERATION = "INSERT INTO operations (key, session, digest) VALUES (?, ?, ?)";
const SECRET = "SELECT value FROM meta WHERE key = 'secret'";
const INSERT_SECRET = "INSERT INTO meta (key, value) VALUES ('secret', ?)";

/**
 * Opens the store of one member in an SQLite file, creating it when missing.
 *
 * @throws AgentError `STORE_UNUSABLE` when the file is corrupt, read-only or of a newer version, `STORE_FULL`.
 */
export function openSqliteStore(file: string): Store {
  return createSqliteStore(openDatabase(file));
}

/**
 * Opens the store of one member to be read, also while the member runs: readers and the writer wait for nobody.
 *
 * @throws AgentError `STORE_UNUSABLE` when the file is missing, corrupt, or of another version.
 */
export function openSqliteReader(file: string): StoreReader {
  const database = openReadOnlyDatabase(file);
  const { head, list, descendants, startingWith, events, load, close } = createSqliteStore(database);
  const secret = (): string | undefined => readSecret(database);
  return { head, list, descendants, startingWith, events, load, close, secret };
}

/** The store of one member on a connection. */
export function createSqliteStore(database: Database): Store {
  const { sql, transaction } = database;
  const sessions = createSessionTable(database);
  const heads = createHeadTable(database);
  const log = createLogTable(database);
  const mail = createMailTable(database);
  const snapshots = createSnapshotTable(database);
  const removal = createRemoval(database);

  const commit = (request: Commit): Written => {
    const { sessionId, version, at, taken, posts, snapshot, resumed = false } = request;
    const session = sessions.find(sessionId);
    if (session === undefined || session.version !== version) throw new StaleVersion(sessionId);
    if (session.gone !== null && session.gone !== "ending") throw new StaleVersion(sessionId);
    const end = log.append(session.pk, { seq: version, index: session.next_index }, request);
    if (taken !== undefined) mail.take(taken);
    for (const post of posts) {
      const known = sessions.find(post.sessionId)?.pk;
      if (known === undefined && post.input.kind !== "open") continue;
      const target = known ?? sessions.insert(post.sessionId, post.input as OpenInput, at);
      if (mail.insert(target, post.id, post.input)) sessions.wake(target);
    }
    const kept = snapshot && snapshots.write(session.pk, end.seq, snapshot);
    if (resumed) sessions.clearStopped(session.pk);
    const unread = !(request.active && request.working) && mail.hasUnread(session.pk);
    if (!sessions.update(session.pk, request, end, unread)) throw new StaleVersion(sessionId);
    return { length: end.length, ...(kept === undefined ? {} : { snapshotLength: kept }) };
  };

  return guarded(database, {
    create: ({ sessionId, at, operationKey, digest, input }) =>
      transaction(() => {
        if (operationKey !== undefined) {
          const known = sql(OPERATION).get(operationKey) as { session: string; digest: string | null } | undefined;
          if (known !== undefined) {
            return { sessionId: known.session, created: false, conflict: known.digest !== (digest ?? null) };
          }
          sql(INSERT_OPERATION).run(operationKey, sessionId, digest ?? null);
        }
        mail.insert(sessions.insert(sessionId, input, at), "open", input);
        return { sessionId, created: true, conflict: false };
      }),
    accept: (sessionId, id, input, digest) =>
      transaction(() => {
        const session = sessions.findReadable(sessionId);
        if (session === undefined || session.gone === "ending" || session.gone === "removing") return "unknown";
        if (session.ended === 1) return "ended";
        if (!mail.insert(session.pk, id, input, digest)) {
          return mail.digestOf(session.pk, id) === (digest ?? null) ? "duplicate" : "conflict";
        }
        sessions.wake(session.pk);
        return "accepted";
      }),
    knows: mail.knows,
    commit: (request) => transaction(() => commit(request)),
    // The log only grows, so what is read of it fits together without a transaction.
    load: (sessionId, through) => {
      const session = sessions.findReadable(sessionId);
      if (session === undefined || (session.gone !== null && session.gone !== "ending")) return undefined;
      const last = through === undefined ? session.version - 1 : log.seqOfEvent(session.pk, through);
      if (last === undefined) return undefined;
      const kept = snapshots.read(session.pk, last + 1);
      const { entries, length } = log.read(session.pk, kept?.version ?? 0, last + 1);
      return {
        version: last + 1,
        snapshot: kept?.state,
        snapshotLength: kept?.length ?? 0,
        entries,
        length,
        ...sessions.left(session.pk),
      };
    },
    mail: mail.unread,
    events: (sessionId, from, limit, maxLength = Infinity) => log.events(sessionId, from, limit, maxLength),
    noteStopped: sessions.noteStopped,
    head: heads.head,
    list: heads.list,
    descendants: heads.descendants,
    startingWith: heads.startingWith,
    active: (after = 0, limit) => sessions.active(after, limit),
    due: (now, after = { due: 0, row: 0 }, limit) => sessions.due(now, after, limit),
    nextDue: sessions.nextDue,
    remove: (sessionId, at) =>
      transaction(() => {
        const outcome = removal.begin(sessionId, at);
        if (outcome !== "ending") return outcome;
        const { pk } = sessions.find(sessionId)!;
        mail.insert(pk, "remove", { kind: "reset" });
        sessions.wake(pk);
        return "removed";
      }),
    endRemovals: (before, limit) => transaction(() => removal.endRemovals(before, limit)),
    expire: (before, limit) => transaction(() => removal.expire(before, limit)),
    earliestEnd: removal.earliestEnd,
    clean: () => transaction(removal.clean),
    shrink: removal.shrink,
    secret: () =>
      transaction(() => {
        const known = readSecret(database);
        if (known !== undefined) return known;
        const value = randomBytes(32).toString("base64url");
        sql(INSERT_SECRET).run(value);
        return value;
      }),
    close: database.close,
  });
}

function readSecret({ sql }: Database): string | undefined {
  return (sql(SECRET).get() as { value: string } | undefined)?.value;
}

/** Says of every failure whether the store is to blame, and keeps it from the next who asks. */
function guarded({ renew }: Database, store: Store): Store {
  const guard =
    (method: (...args: never[]) => unknown) =>
    (...args: never[]): unknown => {
      try {
        return method(...args);
      } catch (error) {
        if (resultCodeOf(error) !== undefined) renew();
        throw toStoreProblem(error);
      }
    };
  return Object.fromEntries(Object.entries(store).map(([name, method]) => [name, guard(method)])) as unknown as Store;
}
