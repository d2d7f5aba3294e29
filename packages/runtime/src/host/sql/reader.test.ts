import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, expect, test } from "vitest";
import { opening } from "../conformance/perform.fixture.ts";
import { MIGRATIONS } from "./migrations.ts";
import { openSqliteReader, openSqliteStore } from "./sqlite.ts";

let folder: string;
let file: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "eve-reader-"));
  file = join(folder, "store.db");
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

test("a reader sees what a writer commits, while the writer is in the middle of the next commit", async () => {
  const store = openSqliteStore(file);
  const create = (sessionId: string) => store.create({ sessionId, at: 1, input: opening("hi") });
  await create("ses_A1");
  const secret = await store.secret();
  const reader = openSqliteReader(file);
  const writer = new DatabaseSync(file);
  writer.exec("BEGIN IMMEDIATE; UPDATE sessions SET agent = 'changed'");
  expect(await reader.head("ses_A1")).toMatchObject({ sessionId: "ses_A1", agentName: "test" });
  expect(await reader.secret()).toBe(secret);
  writer.exec("COMMIT");
  writer.close();
  expect(await reader.head("ses_A1")).toMatchObject({ agentName: "changed" });
  await create("ses_A2");
  await create("ses_B1");
  expect(await reader.startingWith("ses_A", 10)).toEqual(["ses_A1", "ses_A2"]);
  expect(await reader.startingWith("ses_", 2)).toEqual(["ses_A1", "ses_A2"]);
  expect(await reader.startingWith("ses_%", 2)).toEqual([]);
  await store.remove("ses_A1", 2);
  expect(await reader.startingWith("ses_A", 10)).toEqual(["ses_A2"]);
  await reader.close();
  await store.close();
});

test("a store that no member has opened has no secret, and gets none", async () => {
  await openSqliteStore(file).close();
  const reader = openSqliteReader(file);
  expect(await reader.secret()).toBeUndefined();
  await reader.close();
});

test.each([
  ["of an earlier version", 1, /earlier version 1; .* version \d/, /Start its member once/],
  ["of a newer version", 999, /of version 999; this runtime knows up to/, /EVE_STORE/],
])("a store %s is refused and stays as it is", (_, version, message, fix) => {
  const db = new DatabaseSync(file);
  db.exec(`${MIGRATIONS[0]} PRAGMA user_version = ${version}`);
  db.close();
  const before = readFileSync(file);
  expect(() => openSqliteReader(file)).toThrow(
    expect.objectContaining({
      code: "STORE_UNUSABLE",
      message: expect.stringMatching(message),
      fix: expect.stringMatching(fix),
    }),
  );
  expect(readFileSync(file).equals(before)).toBe(true);
});

test("a file that is missing, empty or no database is refused, and none is made", () => {
  const unusable = expect.objectContaining({ code: "STORE_UNUSABLE" });
  expect(() => openSqliteReader(file)).toThrow(unusable);
  expect(() => readFileSync(file)).toThrow("ENOENT");
  writeFileSync(file, "");
  expect(() => openSqliteReader(file)).toThrow(expect.objectContaining({ message: expect.stringMatching(/no store/) }));
  copyFileSync(import.meta.filename, file);
  expect(() => openSqliteReader(file)).toThrow(unusable);
});
