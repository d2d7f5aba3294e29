import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { ulid } from "ulid";
import type { Host } from "../../engine/ports.ts";
import { ALICE, callingRemote, delegating, hanging, opening, reply } from "../conformance/perform.fixture.ts";
import { idle } from "../conformance/outbox.fixture.ts";
import { all, replies, until } from "../conformance/read-events.fixture.ts";
import { createOfflineHost } from "./offline-host.ts";
import { openSqliteStore } from "./sqlite.ts";
import { createSqliteWorld, type SqliteWorld } from "./world.fixture.ts";

let world: SqliteWorld;
beforeEach(() => void (world = createSqliteWorld()));
afterEach(async () => {
  expect(world.errors).toEqual([]);
  await world.dispose();
});

/** The member is stopped, or killed, and its store opened without it. */
async function offline(member: Host, how: "stop" | "kill" = "stop"): Promise<Host> {
  await (how === "kill" ? world.crash(member) : member.close());
  const host = createOfflineHost({
    store: openSqliteStore(world.file),
    newSessionId: () => `ses_${ulid()}`,
    newEventId: () => `evt_${ulid()}`,
    now: world.now,
    onError: (error) => world.errors.push(error),
  });
  onTestFinished(() => host.close().catch(() => {}));
  return host;
}

function rows(table: string): number {
  const db = new DatabaseSync(world.file, { readOnly: true });
  try {
    return (db.prepare(`SELECT count(*) AS n FROM ${table}`).get() as { n: number }).n;
  } finally {
    db.close();
  }
}

describe("a member that does not run", () => {
  test("has what was said to it done once it starts, and nothing of it before", async () => {
    const before = await world.open(reply(() => "ok"));
    const { sessionId } = await before.open({ input: opening("hi") });
    await replies(before, sessionId, 1);
    const host = await offline(before);
    const events = await all(host, sessionId);
    const second = { kind: "deliver", delivery: opening("again").first! } as const;
    expect(await host.deliver(sessionId, "second", second)).toBe("accepted");
    expect(await host.deliver(sessionId, "second", second)).toBe("duplicate");
    const opened = await host.open({ operationKey: "op", input: opening("new") });
    expect(await host.open({ operationKey: "op", input: opening("new") })).toMatchObject({
      sessionId: opened.sessionId,
      created: false,
    });
    expect(await all(host, sessionId)).toEqual(events);
    expect((await host.state(sessionId))!.nextSequence).toBe(1);
    expect(await host.state(opened.sessionId)).toBeUndefined();
    await host.close();

    const after = await world.open(reply(() => "ok"));
    expect(await replies(after, sessionId, 2)).toEqual(["ok", "ok"]);
    expect(await replies(after, opened.sessionId, 1)).toEqual(["ok"]);
    await after.close();
  });

  test("tells the state right after an event, and of none that is not there", async () => {
    const before = await world.open(reply(() => "ok"));
    const { sessionId } = await before.open({ input: opening("hi") });
    await replies(before, sessionId, 1);
    const host = await offline(before);
    expect((await host.stateAt(sessionId, 1))!.turn).toBeDefined();
    expect(await host.stateAt(sessionId, 999)).toBeUndefined();
    expect(await host.stateAt("ses_unknown", 0)).toBeUndefined();
  });

  test.each(["stop", "kill"] as const)(
    "has a session removed with all below it, at once and whole, after a %s in the middle of a turn",
    async (how) => {
      const before = await world.open(delegating({ hangInChild: true }));
      const { sessionId } = await before.open({ operationKey: "op", input: opening("go") });
      const kept = await before.open({ input: opening("go") });
      for (const id of [sessionId, kept.sessionId]) await until(before, id, "turn.waiting");
      const [child] = await before.descendants(sessionId);
      const [keptChild] = await before.descendants(kept.sessionId);
      await until(before, child!, "step.started");
      await until(before, keptChild!, "step.started");
      const events = [...(await all(before, kept.sessionId)), ...(await all(before, keptChild!))];
      const host = await offline(before, how);
      expect(await host.remove(child!)).toBe("child");
      expect(await host.remove(sessionId)).toBe("removed");
      expect(await host.remove(sessionId)).toBe("unknown");
      for (const id of [sessionId, child!]) {
        expect(await host.head(id)).toBeUndefined();
        expect(await host.events(id, 0, 10)).toEqual([]);
      }
      // Nothing of the other session was so much as looked at.
      expect([...(await all(host, kept.sessionId)), ...(await all(host, keptChild!))]).toEqual(events);
      expect([rows("sessions"), rows("operations")]).toEqual([2, 0]);
    },
  );

  test("keeps a removed session that has to tell a remote, until the member does so", async () => {
    const before = await world.open(callingRemote([]));
    const { sessionId } = await before.open({ input: opening("go") });
    await until(before, sessionId, "agent.started");
    const host = await offline(before);
    expect(await host.remove(sessionId)).toBe("removed");
    expect(await host.head(sessionId)).toBeUndefined();
    expect(rows("sessions")).toBe(1);
    await host.close();
    const requests: string[] = [];
    const after = await world.open(callingRemote(requests));
    await idle(async () => rows("sessions") === 0);
    expect(requests).toEqual(["cancel", "reset"]);
    await after.close();
  });

  test("has a message that nobody has read removed with its session", async () => {
    const host = await offline(await world.open(hanging));
    const { sessionId } = await host.open({ input: opening("hi", ALICE) });
    expect(await host.remove(sessionId)).toBe("removed");
    expect([rows("sessions"), rows("mail"), rows("log")]).toEqual([0, 0, 0]);
  });
});
