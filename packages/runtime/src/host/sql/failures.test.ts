import { readFileSync, writeFileSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Host } from "../../engine/ports.ts";
import { AgentError } from "../../errors.ts";
import { calling, message, opening, reply, responded } from "../conformance/perform.fixture.ts";
import { all, replies, until } from "../conformance/read-events.fixture.ts";
import { connect } from "./database.ts";
import { migrate } from "./migrations.ts";
import { createSqliteStore } from "./sqlite.ts";
import { createSqliteWorld, type SqliteWorld } from "./world.fixture.ts";

let world: SqliteWorld;
let connection: DatabaseSync;
const hosts: Host[] = [];
beforeEach(() => {
  world = createSqliteWorld((file) => {
    connection = new DatabaseSync(file);
    migrate(connection);
    return createSqliteStore(connect(connection));
  });
});
afterEach(async () => {
  await Promise.all(hosts.splice(0).map((host) => host.close()));
  await world.dispose();
});
const open = async (...given: Parameters<SqliteWorld["open"]>): Promise<Host> => {
  const host = await world.open(...given);
  hosts.push(host);
  return host;
};

/** As SQLite says it of a disk without space: no page more than there are. */
const fill = (): void => {
  connection.exec("CREATE TABLE IF NOT EXISTS ballast (x)");
  connection.exec("PRAGMA max_page_count = 1");
};
const makeSpace = (): void => connection.exec("PRAGMA max_page_count = 1000000");
const LONG = "much ".repeat(20_000);

describe("a full disk", () => {
  test("refuses a message with what to do, nothing of it is there, and it is taken later", async () => {
    const host = await open(reply(() => "ok"));
    const { sessionId } = await host.open({ input: opening(undefined) });
    await host.state(sessionId);
    fill();
    const refused = await host.deliver(sessionId, "d1", message("d1", LONG)).catch((error: unknown) => error);
    expect(AgentError.is(refused, "STORE_FULL") && refused.fix).toMatch(/space/);
    await expect(host.open({ operationKey: "op", input: opening(LONG) })).rejects.toMatchObject({ code: "STORE_FULL" });
    expect(await host.delivered(sessionId, "d1")).toBe(false);
    expect((await host.list({ limit: 9 })).sessions).toHaveLength(1);
    expect(await all(host, sessionId)).toEqual([]);
    makeSpace();
    expect(await host.deliver(sessionId, "d1", message("d1", LONG))).toBe("accepted");
    expect((await host.open({ operationKey: "op", input: opening(LONG) })).created).toBe(true);
    expect(await replies(host, sessionId, 1)).toEqual(["ok"]);
  });

  test("keeps results until there is space: no tool runs twice, and the log says it once", async () => {
    const started = Promise.withResolvers<void>();
    const finish = Promise.withResolvers<void>();
    const enough = Promise.withResolvers<void>();
    const ran: string[] = [];
    let attempts = 0;
    let isFull = false;
    const host = await open(
      async (effect, { state }) => {
        ran.push(effect.id);
        if (effect.kind !== "tool") return state.turn!.stepIndex === 0 ? calling(["a", "b"]) : responded("done");
        started.resolve();
        await finish.promise;
        return { kind: "tool.settled", callId: effect.call.callId, status: "completed", output: LONG };
      },
      { fault: (point) => void (isFull && point === "commit:before" && ++attempts === 6 && enough.resolve()) },
    );
    const { sessionId } = await host.open({ input: opening("go") });
    await started.promise;
    fill();
    isFull = true;
    finish.resolve();
    await enough.promise;
    expect((await host.state(sessionId))?.turn?.phase).toBe("calls");
    expect(world.errors).toHaveLength(1);
    expect(AgentError.is(world.errors[0], "STORE_FULL")).toBe(true);
    makeSpace();
    const events = await until(host, sessionId, "session.waiting");
    expect(events.filter(({ type }) => type === "action.result")).toHaveLength(2);
    expect(ran).toEqual([ran[0], "tool:turn_0:a", "tool:turn_0:b", ran[3]]);
  });

  test("keeps the text that a model streams, in order", async () => {
    const finish = Promise.withResolvers<void>();
    const failed = Promise.withResolvers<void>();
    let isFull = false;
    const words = Array.from({ length: 40 }, (_, index) => `${index} ${"x".repeat(3_000)} `);
    const host = await open(
      async (_effect, { state, stream }) => {
        const { turnId, sequence, stepIndex } = state.turn!;
        for (const messageDelta of words) {
          stream({ public: true, type: "message.appended", data: { turnId, sequence, stepIndex, messageDelta } });
          await new Promise((resolve) => setImmediate(resolve));
        }
        await finish.promise;
        return responded(words.join(""));
      },
      { fault: (point) => void (isFull && point === "commit:before" && failed.resolve()) },
    );
    const { sessionId } = await host.open({ input: opening(undefined) });
    await host.deliver(sessionId, "d1", message("d1", "go"));
    await until(host, sessionId, "step.started");
    fill();
    isFull = true;
    await failed.promise;
    makeSpace();
    finish.resolve();
    const events = await until(host, sessionId, "session.waiting");
    const deltas = events.flatMap((event) => (event.type === "message.appended" ? [event.data.messageDelta] : []));
    expect(deltas.join("")).toBe(words.join(""));
  });
});

describe("a damaged page of one session", () => {
  test("stops that session, and no other", async () => {
    const first = await world.open(reply(() => "ok"));
    const good = await first.open({ input: opening("hello") });
    const bad = await first.open({ input: opening("hello") });
    for (let turn = 1; turn < 40; turn++) {
      await replies(first, bad.sessionId, turn);
      await first.deliver(bad.sessionId, `d${turn}`, message(`d${turn}`, "BAD ".repeat(200)));
    }
    await replies(first, bad.sessionId, 40);
    await replies(first, good.sessionId, 1);
    await first.close();
    damage(world.file, "BAD BAD");

    const host = await open(reply(() => "still here"));
    await expect(host.state(bad.sessionId)).rejects.toMatchObject({ code: "STORE_UNUSABLE" });
    await expect(host.events(bad.sessionId, 0, 1_000)).rejects.toMatchObject({ code: "STORE_UNUSABLE" });
    expect((await host.head(bad.sessionId))?.sessionId).toBe(bad.sessionId);
    await host.deliver(good.sessionId, "more", message("more", "more"));
    expect((await replies(host, good.sessionId, 2)).at(-1)).toBe("still here");
    const fresh = await host.open({ input: opening("new") });
    expect(await replies(host, fresh.sessionId, 1)).toEqual(["still here"]);
  });
});

/** Overwrites a leaf of the log in the middle of those that hold `text`. */
function damage(file: string, text: string): void {
  const db = new DatabaseSync(file);
  db.exec("DELETE FROM snapshots; PRAGMA wal_checkpoint(TRUNCATE)");
  const pages = db
    .prepare("SELECT pageno, pgsize FROM dbstat WHERE name = 'log' AND pagetype = 'leaf' ORDER BY path")
    .all();
  db.close();
  const bytes = readFileSync(file);
  const leaves = (pages as { pageno: number; pgsize: number }[])
    .map(({ pageno, pgsize }) => bytes.subarray((pageno - 1) * pgsize, pageno * pgsize))
    .filter((page) => page.includes(text));
  // A page that is split looks at its neighbours, too.
  expect(leaves.length).toBeGreaterThan(10);
  leaves[leaves.length >> 1]!.fill(0xff);
  writeFileSync(file, bytes);
}
