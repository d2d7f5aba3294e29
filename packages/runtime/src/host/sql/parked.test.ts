import { createHook } from "node:async_hooks";
import { DatabaseSync } from "node:sqlite";
import { afterEach, expect, test } from "vitest";
import type { Host } from "../../engine/ports.ts";
import { opening, reply } from "../conformance/perform.fixture.ts";
import { replies } from "../conformance/read-events.fixture.ts";
import { connect } from "./database.ts";
import { createSqlHost } from "./host.ts";
import { migrate } from "./migrations.ts";
import { createSqliteStore, openSqliteStore } from "./sqlite.ts";
import type { Store } from "./store.ts";
import { createSqliteWorld, type SqliteWorld } from "./world.fixture.ts";

/** What a start does must not depend on how many sessions wait: counted, not timed. */
const PARKED = 10_000;
const MONTH_MS = 30 * 86_400_000;

const worlds: SqliteWorld[] = [];
afterEach(() => Promise.all(worlds.splice(0).map((world) => world.dispose())));

/** A world with sessions that wait for a message, and to be ended in a month; some have ended, and are kept as long. */
function createParked(count: number, openStore?: (file: string) => Store): SqliteWorld {
  const world = createSqliteWorld(openStore);
  worlds.push(world);
  openSqliteStore(world.file).close();
  const db = new DatabaseSync(world.file);
  db.prepare(
    `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?1)
     INSERT INTO sessions (id, node, owner, version, next_index, active, ended, created_at, updated_at, due, ended_at)
     SELECT 'ses_' || i, 'root', '{}', 0, 0, 0, i % 3 = 0, ?2, ?2,
       iif(i % 3 = 0, NULL, ?2 + ?3 + i), iif(i % 3 = 0, ?2 + i, NULL)
     FROM n WHERE ?1 > 0`,
  ).run(count, world.now(), MONTH_MS);
  db.close();
  return world;
}

/** Notes every statement that is run, with how many rows it gave. */
function watch(file: string, ran: Map<string, number>): Store {
  const db = new DatabaseSync(file);
  migrate(db);
  const database = connect(db);
  return createSqliteStore({
    ...database,
    sql: (text) =>
      new Proxy(database.sql(text), {
        get: (statement, name: "get" | "all" | "run") => {
          const method = statement[name] as (...args: never[]) => unknown;
          return (...args: never[]): unknown => {
            const result = method.apply(statement, args);
            const rows = Array.isArray(result) ? result.length : result === undefined ? 0 : 1;
            ran.set(text, (ran.get(text) ?? 0) + rows);
            return result;
          };
        },
      }),
  });
}

async function start(
  count: number,
): Promise<{ readonly world: SqliteWorld; readonly host: Host; readonly ran: Map<string, number> }> {
  const ran = new Map<string, number>();
  const world = createParked(count, (file) => watch(file, ran));
  const host = await world.open(
    reply(() => "ok"),
    { retentionMs: MONTH_MS },
  );
  await settled(() => world.alarms());
  return { world, host, ran };
}

/** A start goes on by itself: waits until its alarm is set, or until it has been clear for long that it is not. */
async function settled(alarms: () => number): Promise<void> {
  for (let turn = 0; turn < 200 && alarms() === 0; turn++) await new Promise((resolve) => setImmediate(resolve));
  for (let turn = 0; turn < 50; turn++) await new Promise((resolve) => setImmediate(resolve));
}

test("a start reads as many rows beside ten thousand parked sessions as without", async () => {
  const none = await start(0);
  const many = await start(PARKED);
  expect([...many.ran]).toEqual([...none.ran]);
  expect(many.ran.size).toBeGreaterThan(3);
  await none.host.close();
  await many.host.close();
});

test("every statement of a start and of a turn finds its rows by an index", async () => {
  const { world, host, ran } = await start(PARKED);
  const { sessionId } = await host.open({ input: opening("hi") });
  await replies(host, sessionId, 1);
  await host.close();
  const db = new DatabaseSync(world.file);
  const selects = [...ran.keys()].filter((text) => /^(SELECT|UPDATE|WITH|DELETE)/.test(text));
  expect(selects.length).toBeGreaterThan(10);
  for (const text of selects) {
    const plan = db.prepare(`EXPLAIN QUERY PLAN ${text}`).all() as { detail: string }[];
    for (const { detail } of plan) {
      expect(detail, text).not.toMatch(/TEMP B-TREE/);
      // The whole of a partial index is what is wanted; the whole of a table never.
      if (/^SCAN (?!t\b|tree\b)/.test(detail)) expect(detail, text).toMatch(/USING (COVERING )?INDEX sessions_/);
    }
  }
  db.close();
});

test("ten thousand sessions that are to end in a month have a timer together", async () => {
  const world = createParked(PARKED);
  let timers = 0;
  const hook = createHook({ init: (_id, type) => void (type === "Timeout" && timers++) }).enable();
  const host = createSqlHost({
    store: openSqliteStore(world.file),
    perform: async () => undefined,
    surroundings: () => expect.unreachable("No session is loaded."),
    newSessionId: () => "ses_new",
    newEventId: () => "evt_new",
    now: world.now,
    onError: (error) => expect.unreachable(String(error)),
    retentionMs: MONTH_MS,
  });
  await host.start();
  await settled(() => 1);
  hook.disable();
  // One, set anew for what comes earlier; the test runner may have some.
  expect(timers).toBeGreaterThan(0);
  expect(timers).toBeLessThan(10);
  await host.close();
});

test("a session of which nothing comes when it is told the time is not told again at once", async () => {
  const world = createParked(0);
  const host = await world.open(() => new Promise(() => {}), { sessionTimeoutMs: 1_000 });
  const parked = await host.open({ input: opening(undefined) });
  await host.state(parked.sessionId);
  await host.deliver(parked.sessionId, "d1", { kind: "deliver", delivery: opening("hi").first! });
  await host.state(parked.sessionId);
  let rang = 0;
  for (let second = 0; second < 60; second++) {
    await world.pass(1_000);
    await settled(() => 1);
    rang += world.alarms() === 0 ? 0 : 1;
  }
  // Its turn is under way: it was told once, and has no time of its own until that ends.
  expect(rang).toBeLessThanOrEqual(2);
  expect((await host.head(parked.sessionId))?.ended).toBe(false);
  await host.close();
});
