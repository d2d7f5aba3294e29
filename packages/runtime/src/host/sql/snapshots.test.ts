import fc from "fast-check";
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { deadline } from "../../engine/deadline.ts";
import { decide, type Effect } from "../../engine/decide.ts";
import type { Entry } from "../../engine/entry.ts";
import type { EffectInput, ResolvedCall } from "../../engine/input.ts";
import type { Delivery, SessionState } from "../../engine/state.ts";
import { CALLERS, createWorld, type SimSession } from "../../engine/world.fixture.ts";
import type { Host } from "../../engine/ports.ts";
import { message, opening, reply } from "../conformance/perform.fixture.ts";
import { replies } from "../conformance/read-events.fixture.ts";
import { fold, isSnapshotDue } from "./fold.ts";
import { openSqliteStore } from "./sqlite.ts";
import { createSqliteWorld, type SqliteWorld } from "./world.fixture.ts";

const USAGE = { inputTokens: 1, outputTokens: 1, cacheReadTokens: 0, cacheWriteTokens: 0 };

test("a kept state and the rest of the log are what the whole log is, at every version", { timeout: 60_000 }, () => {
  const numbers = fc.array(fc.nat(0xffff), { minLength: 30, maxLength: 120, size: "max" });
  const seen = new Set<string>();
  fc.assert(
    fc.property(numbers, (choices) => {
      for (const { log } of play(choices)) {
        const entries = log.map((line) => JSON.parse(line) as Entry);
        for (const { type } of entries) seen.add(type);
        const whole = fold({ snapshot: undefined, entries });
        let state: SessionState | undefined;
        for (let version = 0; version <= entries.length; version++) {
          const kept = state && (JSON.parse(JSON.stringify(state)) as SessionState);
          const both = fold({ snapshot: kept, entries: entries.slice(version) });
          expect(both).toEqual(whole);
          if (both === undefined || whole === undefined) continue;
          expect(decide(both)).toEqual(decide(whole));
          expect(deadline(both)).toEqual(deadline(whole));
          // Strictly: a field that was undefined is missing from what is kept, and from nothing else.
          expect(JSON.parse(JSON.stringify(both))).toStrictEqual(JSON.parse(JSON.stringify(whole)));
          if (version < entries.length) state = fold({ snapshot: state, entries: [entries[version]!] });
        }
      }
    }),
    { numRuns: 60, seed: 20_261_130 },
  );
  for (const type of ["task.settled", "call.interrupted", "turn.failed", "outgoing.queued", "session.completed"]) {
    expect(seen).toContain(type);
  }
});

/** A world that does what the numbers say: messages, replies, tools, children, remotes, cancels, resets and crashes. */
function play(choices: readonly number[]): readonly SimSession[] {
  const world = createWorld({ advanced: () => {} });
  let used = 0;
  let made = 0;
  const pick = (of: number): number => choices[used++ % choices.length]! % of;
  const deliver = (): Delivery => ({
    deliveryId: `d${++made}`,
    parts: [{ type: "text", text: `message ${made}` }],
    principal: CALLERS[pick(2)]!,
    policy: pick(2) === 0 ? "steer" : "queue",
  });
  const call = (n: number): ResolvedCall => {
    const targets: ResolvedCall["target"][] = [
      { kind: "tool", onInterrupt: pick(2) === 0 ? "retry" : "fail" },
      { kind: "local", nodeId: "root/helper", description: "" },
      { kind: "remote", remote: { name: "far", source: "far.ts" }, description: "" },
    ];
    return { callId: `c${n}`, name: "work", input: { message: "go" }, target: targets[pick(3)]! };
  };
  const respond = (): EffectInput => {
    const roll = pick(6);
    if (roll === 0) return { kind: "model.failed", code: "MODEL_FAILED", message: "x", retryable: pick(2) === 0 };
    const calls = roll < 3 ? [call(0), call(1)] : [];
    return { kind: "model.responded", text: `t${++made}`, reasoning: "", finishReason: "stop", calls, usage: USAGE };
  };
  const settle = (effect: Effect): EffectInput => {
    switch (effect.kind) {
      case "model":
        return respond();
      case "tool":
        return { kind: "tool.settled", callId: effect.call.callId, status: "completed", output: { n: made } };
      case "send": {
        const { taskId, call: sent } = effect;
        if (pick(4) === 0) return { kind: "remote.failed", taskId, callId: sent.callId, code: "GONE", message: "x" };
        const accepted = { remoteSessionId: "far", deliveryId: pick(2) === 0 ? undefined : "d", url: "http://far" };
        return { kind: "remote.accepted", taskId, callId: sent.callId, ...accepted };
      }
      case "watch":
        return { kind: "child.settled", callIds: [effect.call.callId], status: "completed", output: "far reply" };
      default:
        return { kind: "effect.failed", effectId: effect.id, message: "x" };
    }
  };
  const first = {
    kind: "open",
    nodeId: "root",
    agentName: "a",
    origin: { kind: "root" },
    initiator: CALLERS[0]!,
  } as const;
  const id = world.open("here", "person", "op", { ...first, first: deliver() });
  for (let round = 0; round < choices.length; round++) {
    const sessions = [...world.sessions.values()];
    const session = sessions[pick(sessions.length)]!;
    const roll = pick(20);
    if (roll === 0) world.crash("here");
    else if (roll === 1) world.accept(id, "person", `p${++made}`, { kind: "cancel" });
    else if (roll === 2 && pick(4) === 0) world.accept(id, "person", `p${++made}`, { kind: "reset" });
    else if (roll < 5) world.accept(id, "person", `p${++made}`, { kind: "deliver", delivery: deliver() });
    const senders = [...session.mail.keys()];
    if (senders.length > 0) world.process(session, senders[pick(senders.length)]!);
    const effects = [...session.running.values()];
    if (effects.length > 0) {
      const effect = effects[pick(effects.length)]!;
      world.settle(session, effect.id, settle(effect));
    }
  }
  return [...world.sessions.values()];
}

describe("when a snapshot is due", () => {
  const between = { turn: undefined };
  const within = { turn: {} as NonNullable<SessionState["turn"]> };

  test("not before reading it is cheaper than folding", () => {
    expect(isSnapshotDue({ snapshotLength: 0, length: 16_000 }, between)).toBe(false);
    expect(isSnapshotDue({ snapshotLength: 0, length: 17_000 }, between)).toBe(true);
  });

  test("the longer the snapshot, the longer the log before the next", () => {
    expect(isSnapshotDue({ snapshotLength: 1_000_000, length: 240_000 }, between)).toBe(false);
    expect(isSnapshotDue({ snapshotLength: 1_000_000, length: 250_000 }, between)).toBe(true);
  });

  test("within a turn only when it goes on and on", () => {
    expect(isSnapshotDue({ snapshotLength: 0, length: 100_000 }, within)).toBe(false);
    expect(isSnapshotDue({ snapshotLength: 0, length: 140_000 }, within)).toBe(true);
  });
});

describe("a session with a snapshot", () => {
  let world: SqliteWorld;
  let sessionId: string;
  let state: SessionState | undefined;
  beforeEach(async () => {
    world = createSqliteWorld();
    const host = await world.open(reply(() => "a reply ".repeat(100)));
    sessionId = await converse(host, 30);
    state = await host.state(sessionId);
    await host.close();
  });
  afterEach(() => world.dispose());

  const change = (sql: string): void => {
    const db = new DatabaseSync(world.file);
    db.exec(sql);
    db.close();
  };

  test("is read from it and the short rest of its log, and not from the rest alone", async () => {
    const store = openSqliteStore(world.file);
    const log = (await store.load(sessionId))!;
    expect(log.snapshot).toBeDefined();
    expect(log.entries.length).toBeLessThan(log.version / 2);
    expect(fold(log)).toEqual(state);
    await store.close();
  });

  test.each([
    ["of another format", "UPDATE snapshots SET format = format + 1, state = '{}'"],
    ["that is no JSON", "UPDATE snapshots SET state = substr(state, 1, 100)"],
    ["of a later version than the log", "UPDATE snapshots SET version = version + 100000"],
    ["that is gone", "DELETE FROM snapshots"],
  ])("is the same with one %s", async (_, sql) => {
    change(sql);
    const store = openSqliteStore(world.file);
    const log = (await store.load(sessionId))!;
    expect(log.snapshot).toBeUndefined();
    expect(fold(log)).toEqual(state);
    await store.close();
  });

  test("gets a new one after one that could not be used", async () => {
    change("UPDATE snapshots SET format = format + 1");
    const host = await world.open(reply(() => "ok"));
    await host.deliver(sessionId, "more", message("more", "more"));
    await replies(host, sessionId, 31);
    await host.close();
    const store = openSqliteStore(world.file);
    expect((await store.load(sessionId))!.snapshot).toBeDefined();
    await store.close();
  });
});

async function converse(host: Host, turns: number): Promise<string> {
  const { sessionId } = await host.open({ input: opening("hi") });
  for (let turn = 1; turn < turns; turn++) {
    await replies(host, sessionId, turn);
    await host.deliver(sessionId, `d${turn}`, message(`d${turn}`, "more"));
  }
  await replies(host, sessionId, turns);
  return sessionId;
}
