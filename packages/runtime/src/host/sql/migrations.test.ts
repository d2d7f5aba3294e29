import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { ALICE, opening } from "../conformance/perform.fixture.ts";
import { MIGRATIONS } from "./migrations.ts";
import { openSqliteStore } from "./sqlite.ts";
import type { Store } from "./store.ts";
import { ownerKey } from "./tables/heads.ts";

let folder: string;
let file: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "eve-migrations-"));
  file = join(folder, "store.db");
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

interface OldSession {
  readonly id: string;
  readonly active?: boolean;
  readonly ended?: boolean;
  readonly owner?: object;
  readonly mail?: readonly (readonly [id: string, body: object | null])[];
  readonly log?: readonly (readonly [type: string, data: object, at: number])[];
}

/** A store as version 1 left it. */
function writeVersion1(sessions: readonly OldSession[]): void {
  const db = new DatabaseSync(file);
  db.exec(`PRAGMA journal_mode = WAL; ${MIGRATIONS[0]} PRAGMA user_version = 1;`);
  for (const { id, active = false, ended = false, owner = ALICE, mail = [], log = [] } of sessions) {
    const { pk } = db
      .prepare(
        "INSERT INTO sessions (id, node, owner, version, next_index, active, ended) VALUES (?, 'root', ?, ?, ?, ?, ?) RETURNING pk",
      )
      .get(id, JSON.stringify(owner), log.length, log.length, Number(active), Number(ended)) as { pk: number };
    for (const [mailId, body] of mail) {
      db.prepare("INSERT INTO mail (session, id, body) VALUES (?, ?, ?)").run(pk, mailId, body && JSON.stringify(body));
    }
    log.forEach(([type, data, at], seq) => {
      const isFact = type === "session.opened";
      db.prepare("INSERT INTO log (session, seq, idx, kind, type, at, data) VALUES (?, ?, ?, ?, ?, ?, ?)").run(
        pk,
        seq,
        isFact ? null : seq,
        isFact ? 0 : 1,
        type,
        at,
        JSON.stringify(data),
      );
    });
  }
  db.close();
}

function opened(agentName: string, parentSessionId?: string): [string, object, number] {
  const origin = parentSessionId === undefined ? { kind: "root" } : { kind: "local", parentSessionId, taskId: "t" };
  return ["session.opened", { sessionId: "x", nodeId: "root", agentName, origin, initiator: ALICE }, 100];
}

function columns(): Record<string, Record<string, unknown>> {
  const db = new DatabaseSync(file, { readOnly: true });
  const rows = db.prepare("SELECT * FROM sessions").all() as { id: string }[];
  db.close();
  return Object.fromEntries(rows.map((row) => [row.id, { ...row }]));
}

describe("a store of version 1", () => {
  let store: Store;
  afterEach(() => store.close());

  test("has what heads say, from its logs", async () => {
    writeVersion1([
      {
        id: "parked",
        log: [opened("lead"), ["turn.started", {}, 110], ["turn.completed", {}, 120], ["session.waiting", {}, 121]],
      },
      { id: "held", log: [opened("lead"), ["turn.started", {}, 110], ["turn.waiting", {}, 130]] },
      { id: "child", ended: true, log: [opened("helper", "held"), ["session.completed", {}, 140]] },
      { id: "grandchild", log: [opened("helper", "child")] },
      { id: "fresh", active: true, mail: [["open", { ...opening("hi"), agentName: "scribe" }]] },
      { id: "told", active: true, mail: [["d1", { kind: "cancel" }]], log: [opened("lead")] },
    ]);
    store = openSqliteStore(file);
    expect(await store.head("parked")).toEqual({
      sessionId: "parked",
      nodeId: "root",
      agentName: "lead",
      owner: ALICE,
      status: "waiting",
      ended: false,
      nextIndex: 4,
      createdAt: 100,
      updatedAt: 121,
    });
    expect(await store.head("held")).toMatchObject({ status: "working", updatedAt: 130 });
    expect(await store.head("child")).toMatchObject({ status: "ended", endedAt: 140, parentSessionId: "held" });
    expect(await store.head("fresh")).toMatchObject({ status: "working", agentName: "scribe" });
    expect((await store.head("fresh"))!.createdAt).toBeGreaterThan(Date.UTC(2020));
    expect(await store.head("told")).toMatchObject({ status: "working" });
    expect(await store.descendants("held")).toEqual(["child", "grandchild"]);
    expect((await store.list({ limit: 9, owner: ALICE })).sessions.map(({ sessionId }) => sessionId)).toEqual([
      "told",
      "fresh",
      "held",
      "parked",
    ]);
  });

  test("keeps its owners, whatever their names are", async () => {
    const names = ['"', "\\", "a/b", "é😀", "\n\t\u0001\u001f", "\u007f", "</x>", "'"];
    const owners = names.map((principalId) => ({ ...ALICE, principalId }));
    writeVersion1(owners.map((owner, index) => ({ id: `s${index}`, owner, log: [opened("lead")] })));
    store = openSqliteStore(file);
    const rows = columns();
    owners.forEach((owner, index) => expect(rows[`s${index}`]!.owner_key).toBe(ownerKey(owner)));
  });

  test("is not migrated twice, and a migration that fails changes nothing", async () => {
    writeVersion1([{ id: "s", log: [opened("lead")] }]);
    const db = new DatabaseSync(file);
    db.exec("CREATE TABLE snapshots (mine TEXT)");
    expect(() => openSqliteStore(file)).toThrow(expect.objectContaining({ code: "STORE_UNUSABLE" }));
    expect(db.prepare("PRAGMA user_version").get()).toEqual({ user_version: 1 });
    expect(Object.keys(columns().s!)).not.toContain("agent");
    db.exec("DROP TABLE snapshots");
    db.close();
    openSqliteStore(file).close();
    store = openSqliteStore(file);
    expect((await store.head("s"))?.agentName).toBe("lead");
  });
});

test("an old and a new store have the same tables", () => {
  writeVersion1([]);
  openSqliteStore(file).close();
  const fresh = join(folder, "fresh.db");
  openSqliteStore(fresh).close();
  expect(schemaOf(file)).toEqual(schemaOf(fresh));
});

function schemaOf(path: string): unknown {
  const db = new DatabaseSync(path, { readOnly: true });
  const rows = db.prepare("SELECT type, name, sql FROM sqlite_schema ORDER BY type, name").all();
  db.close();
  return rows;
}
