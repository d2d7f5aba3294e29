import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, expect, test } from "vitest";
import { AgentError } from "../../errors.ts";
import { lockStore } from "./lock.ts";
import { toOpenProblem } from "./unusable.ts";
import { openSqliteStore } from "./sqlite.ts";
import { StaleVersion, type Store } from "./store.ts";

const folders: string[] = [];
const newFolder = (): string => {
  const folder = mkdtempSync(join(tmpdir(), "eve-sqlite-"));
  folders.push(folder);
  return folder;
};
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

const OWNER = { authenticator: "test", principalId: "alice", principalType: "user", attributes: {} } as const;

async function openSession(store: Store, sessionId: string): Promise<void> {
  const input = {
    kind: "open",
    nodeId: "root",
    agentName: "test",
    origin: { kind: "root" },
    initiator: OWNER,
  } as const;
  await store.create({ sessionId, at: 0, input });
}

const COMMIT = { at: 0, posts: [], active: false, working: false, ended: false } as const;
const entryAt = (id: string) => ({
  id,
  entry: { public: true, type: "turn.completed", data: { turnId: "turn_0", sequence: 0 } } as const,
});

test("fence: a commit decided on an old version is refused and changes nothing", async () => {
  const store = openSqliteStore(join(newFolder(), "store.db"));
  await openSession(store, "s");
  await store.commit({ ...COMMIT, sessionId: "s", version: 0, entries: [entryAt("evt_1")] });
  expect(() => store.commit({ ...COMMIT, sessionId: "s", version: 0, entries: [entryAt("evt_2")] })).toThrow(
    StaleVersion,
  );
  expect((await store.events("s", 0, 10)).map(({ index }) => index)).toEqual([0]);
  await store.close();
});

test("commit: all of it or nothing", async () => {
  const store = openSqliteStore(join(newFolder(), "store.db"));
  await openSession(store, "s");
  const [mail] = await store.mail("s");
  const broken = { ...entryAt("evt_2"), id: Symbol("not an id") as unknown as string };
  const commit = { ...COMMIT, sessionId: "s", version: 0, entries: [entryAt("evt_1"), broken], taken: mail!.position };
  expect(() => store.commit(commit)).toThrow();
  expect(await store.events("s", 0, 10)).toEqual([]);
  expect(await store.mail("s")).toHaveLength(1);
  await store.close();
});

test("the secret of a store is made once", async () => {
  const file = join(newFolder(), "store.db");
  const first = openSqliteStore(file);
  const secret = await first.secret();
  await first.close();
  const second = openSqliteStore(file);
  expect(await second.secret()).toBe(secret);
  expect(secret.length).toBeGreaterThanOrEqual(32);
  await second.close();
});

test("a file that is no database, and one of a newer version, are refused with what to do", () => {
  const folder = newFolder();
  writeFileSync(join(folder, "broken.db"), "this is not a database, but long enough to be taken for one".repeat(50));
  expect(() => openSqliteStore(join(folder, "broken.db"))).toThrow(/store can not be used/);
  const newer = new DatabaseSync(join(folder, "newer.db"));
  newer.exec("PRAGMA user_version = 1000");
  newer.close();
  try {
    openSqliteStore(join(folder, "newer.db"));
    expect.unreachable();
  } catch (error) {
    expect(AgentError.is(error, "STORE_UNUSABLE") && error.fix).toMatch(/EVE_STORE/);
  }
});

test.each([
  ["a folder that is a file", "file"],
  ["a folder below a file", "file/below"],
  ["a lock that is a folder", "folder"],
])("%s is no store that somebody else uses, and no raw error", (_, path) => {
  const folder = newFolder();
  writeFileSync(join(folder, "file"), "");
  mkdirSync(join(folder, "folder/store.lock"), { recursive: true });
  const problem = thrownBy(() => lockStore(join(folder, path, "store.lock"), 0));
  expect(problem).toMatchObject({ code: "STORE_UNUSABLE", fix: expect.stringContaining("EVE_STORE") });
  expect(problem.message).not.toContain(folder);
});

test("a database that is a folder is no store", () => {
  expect(thrownBy(() => openSqliteStore(newFolder()))).toMatchObject({ code: "STORE_UNUSABLE" });
});

test("no space for a file beside the database is no space for the store", () => {
  const problem = toOpenProblem(Object.assign(new Error("ENOSPC: no space left on device, write"), { code: "ENOSPC" }));
  expect(problem).toMatchObject({ code: "STORE_FULL", fix: expect.stringContaining("space") });
});

function thrownBy(body: () => unknown): AgentError {
  try {
    body();
  } catch (error) {
    return error as AgentError;
  }
  throw new Error("Nothing was thrown.");
}

test("a store has one owner; the second is told who it is", () => {
  const file = join(newFolder(), "store.lock");
  const lock = lockStore(file, 0);
  lock.describe({ pid: 4711, port: 4000 });
  expect(() => lockStore(file, 0)).toThrow(/pid 4711, port 4000/);
  lock.release();
  lockStore(file, 0).release();
});
