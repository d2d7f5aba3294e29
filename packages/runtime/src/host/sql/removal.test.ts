import { DatabaseSync } from "node:sqlite";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { opening } from "../conformance/perform.fixture.ts";
import { createCleaner } from "./cleaner.ts";
import { openSqliteStore } from "./sqlite.ts";
import type { Commit, Store } from "./store.ts";

let folder: string;
let file: string;
let store: Store;
let reader: DatabaseSync;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "eve-removal-"));
  file = join(folder, "store.db");
  store = openSqliteStore(file);
  reader = new DatabaseSync(file, { readOnly: true });
});
afterEach(async () => {
  reader.close();
  await store.close();
  rmSync(folder, { recursive: true, force: true });
});

const COMMIT = { at: 1_000, posts: [], active: false, working: false, ended: true } as const;

/** A session that has ended, with that many entries of that many characters. */
async function ended(sessionId: string, entries: number, length = 10, parent?: string): Promise<void> {
  const origin =
    parent === undefined ? { kind: "root" as const } : { kind: "local" as const, parentSessionId: parent, taskId: "t" };
  await store.create({ sessionId, at: 0, operationKey: `op ${sessionId}`, input: { ...opening("hi"), origin } });
  const [mail] = await store.mail(sessionId);
  const entry = { public: false, type: "delivery.dropped", data: { deliveryId: "x".repeat(length) } } as const;
  const commit: Commit = {
    ...COMMIT,
    sessionId,
    version: 0,
    taken: mail!.position,
    entries: Array(entries).fill({ entry }),
  };
  await store.commit(commit);
}

function count(table: string): number {
  return (reader.prepare(`SELECT count(*) AS n FROM ${table}`).get() as { n: number }).n;
}

function counts(): number[] {
  return ["sessions", "log", "mail", "operations", "snapshots"].map(count);
}

async function cleanAll(): Promise<number> {
  for (let steps = 1; ; steps++) if (!(await store.clean()).more) return steps;
}

describe("cleaning", () => {
  test.each([
    ["many short entries", 1_000, 10],
    ["few long ones", 12, 100_000],
    ["one that is longer than a step", 1, 2_000_000],
  ])("deletes a bounded part of %s in one transaction", async (_, entries, length) => {
    await ended("s", entries, length);
    await store.expire(2_000, 10);
    for (let left = count("log"); left > 0;) {
      await store.clean();
      const now = count("log");
      expect(left - now).toBeLessThanOrEqual(200);
      if (left - now > 1) expect((left - now) * length).toBeLessThan(300_000);
      expect(now).toBeLessThan(left);
      left = now;
    }
  });

  test("leaves of a swept session whose it was, and of a removed one nothing", async () => {
    await ended("swept", 10);
    await ended("removed", 10);
    expect(await store.remove("removed", 0)).toBe("removed");
    expect(await store.endRemovals(0, 10)).toMatchObject({ sessionIds: ["removed"], left: false });
    expect(await store.expire(2_000, 10)).toEqual(["swept"]);
    await cleanAll();
    expect(counts()).toEqual([1, 0, 0, 0, 0]);
    expect(await store.head("swept")).toMatchObject({ swept: true, owner: { principalId: "alice" } });
    expect(await store.head("removed")).toBeUndefined();
  });

  test("goes on after a crash in the middle", async () => {
    await ended("root", 500);
    await ended("child", 500, 10, "root");
    await store.remove("root", 0);
    await store.endRemovals(0, 10);
    await store.endRemovals(0, 10);
    for (let step = 0; step < 3; step++) await store.clean();
    expect(count("log")).toBeGreaterThan(0);
    await store.close();
    store = openSqliteStore(file);
    expect(await store.head("root")).toBeUndefined();
    await cleanAll();
    expect(counts()).toEqual([0, 0, 0, 0, 0]);
  });

  test("takes a tree of any size with its root, in steps", async () => {
    await ended("root", 1);
    for (let child = 0; child < 700; child++) await ended(`child${child}`, 1, 10, "root");
    await ended("grandchild", 1, 10, "child0");
    await ended("other", 1);
    await store.remove("root", 0);
    expect(await store.head("root")).toBeUndefined();
    while ((await store.endRemovals(0, 20)).more);
    expect(await store.head("child699")).toBeUndefined();
    await cleanAll();
    expect(counts()).toEqual([1, 1, 1, 1, 0]);
  });
});

describe("expiry", () => {
  test("is that of roots, the oldest first, and not before their time", async () => {
    await ended("root", 1);
    await ended("child", 1, 10, "root");
    expect(await store.earliestEnd()).toBe(1_000);
    expect(await store.expire(999, 10)).toEqual([]);
    expect(await store.expire(1_000, 10)).toEqual(["root"]);
    expect(await store.earliestEnd()).toBeUndefined();
  });

  test.each([
    ["has effects to run", { active: true, ended: true }],
    ["has not ended", { active: false, ended: false }],
  ])("waits while a descendant %s, and does not keep others waiting", async (_, busy) => {
    await ended("root", 1);
    await ended("child", 1, 10, "root");
    await store.create({
      sessionId: "grandchild",
      at: 0,
      input: { ...opening("hi"), origin: { kind: "local", parentSessionId: "child", taskId: "t" } },
    });
    const [mail] = await store.mail("grandchild");
    await store.commit({ ...COMMIT, ...busy, sessionId: "grandchild", version: 0, entries: [], taken: mail!.position });
    await ended("other", 1);
    expect(await store.expire(1_000, 1)).toEqual(["other"]);
    await store.commit({ ...COMMIT, sessionId: "grandchild", version: 0, entries: [] });
    expect(await store.expire(1_000, 1)).toEqual(["root"]);
  });
});

test("a removal that can not be ended in time is ended all the same", async () => {
  await store.create({ sessionId: "root", at: 0, input: opening("hi") });
  await store.remove("root", 500);
  expect(await store.endRemovals(499, 10)).toEqual({ sessionIds: [], more: false, left: true });
  expect(await store.endRemovals(500, 10)).toEqual({ sessionIds: ["root"], more: true, left: false });
});

describe("the cleaner says of which sessions nothing is to be left", () => {
  async function runCleaner(retentionMs: number): Promise<Set<string>> {
    const gone = new Set<string>();
    const onError = (error: unknown): never => {
      throw error;
    };
    const cleaner = createCleaner({ store, now: () => 1_000, retentionMs, gone: (id) => void gone.add(id), onError });
    await cleaner.run();
    await cleaner.stop();
    return gone;
  }

  beforeEach(async () => {
    await ended("root", 1);
    await ended("child", 1, 10, "root");
    await ended("grandchild", 1, 10, "child");
  });

  test("of a removed tree all", async () => {
    await store.remove("root", 0);
    expect(await runCleaner(Infinity)).toEqual(new Set(["root", "child", "grandchild"]));
  });

  test("of a swept tree all", async () => {
    expect(await runCleaner(0)).toEqual(new Set(["root", "child", "grandchild"]));
  });

  test("also when a crash came between their end and their cleaning", async () => {
    await store.expire(1_000, 10);
    await store.close();
    store = openSqliteStore(file);
    expect(await runCleaner(0)).toEqual(new Set(["root", "child", "grandchild"]));
  });
});
