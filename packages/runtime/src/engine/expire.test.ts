import { describe, expect, test } from "vitest";
import { deadline } from "./deadline.ts";
import { deliver, message, openSession, refold, says, startTurn } from "./session.fixture.ts";

describe("§16 a session whose time is up", () => {
  test("ends when it is told, and not before", () => {
    const session = openSession({ sessionTimeoutMs: 1_000 });
    expect(deadline(session.state)).toBe(1_000);
    expect(session.types(session.pass(999))).toEqual([]);
    const ended = session.pass(1);
    expect(session.events("session.completed", ended)).toMatchObject([{ reason: "timeout" }]);
    expect(deadline(session.state)).toBeUndefined();
  });

  test("lets its turn settle, and whatever it has accepted", () => {
    const session = startTurn({ sessionTimeoutMs: 1_000 });
    session.apply(deliver("later", { policy: "queue" }));
    expect(deadline(session.state)).toBeUndefined();
    expect(session.types(session.pass(2_000))).toEqual([]);
    expect(session.types(session.apply(says("first")))).toEqual([
      "message.completed",
      "step.completed",
      "turn.completed",
      "session.waiting",
      "turn.started",
      "message.received",
      "step.started",
    ]);
    expect(session.types(session.apply(says("second"))).slice(-2)).toEqual(["session.waiting", "session.completed"]);
    expect(session.state.ended).toBe(true);
  });

  test("is told by its log after a restart", () => {
    const session = startTurn({ sessionTimeoutMs: 5_000, first: message("hi") });
    session.apply(says("hello"));
    expect(deadline(refold(session.entries)!)).toBe(5_000);
  });

  test("has none unless one was set", () => {
    const session = openSession();
    expect(deadline(session.state)).toBeUndefined();
    expect(session.types(session.pass(Number.MAX_SAFE_INTEGER))).toEqual([]);
  });
});
