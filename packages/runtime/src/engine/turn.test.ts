import { describe, expect, test } from "vitest";
import {
  calls,
  deliver,
  message,
  openSession,
  says,
  startChild,
  startTurn,
  toolCall,
  toolSettled,
  ADA,
  BOB,
} from "./session.fixture.ts";

describe("plain turn", () => {
  test("PROTOCOL: the events of a plain turn come in the order of the protocol", () => {
    const session = startTurn();
    session.apply(says("Hi."));
    expect(session.types()).toEqual([
      "session.started",
      "turn.started",
      "message.received",
      "step.started",
      "message.completed",
      "step.completed",
      "turn.completed",
      "session.waiting",
    ]);
  });

  test("§3 a session opened without a message shows nothing and asks nobody", () => {
    const session = openSession();
    expect(session.types()).toEqual([]);
    expect(session.effects()).toEqual([]);
  });

  test("PROTOCOL: session.started comes once, turns are numbered from 0 without a gap", () => {
    const session = startTurn();
    session.apply(says("one"));
    session.apply(deliver("again"));
    session.apply(says("two"));
    expect(session.events("session.started")).toHaveLength(1);
    expect(session.events("turn.started").map(({ turnId, sequence }) => [turnId, sequence])).toEqual([
      ["turn_0", 0],
      ["turn_1", 1],
    ]);
  });

  test("PROTOCOL: reasoning is completed before the text", () => {
    const session = startTurn();
    session.apply({ ...says("Hi."), reasoning: "Greet." });
    expect(session.types().slice(4, 6)).toEqual(["reasoning.completed", "message.completed"]);
  });

  test("an empty reply in a root session completes the turn without a message", () => {
    const session = startTurn();
    session.apply(says(""));
    expect(session.types()).toContain("turn.completed");
    expect(session.types()).not.toContain("message.completed");
  });

  test("usage adds up over steps and turns", () => {
    const session = startTurn();
    session.apply(calls(toolCall("t1")));
    session.apply(toolSettled("t1"));
    session.apply(says("done"));
    expect(session.events("session.waiting")[0]!.usage.inputTokens).toBe(6);
  });
});

describe("tools", () => {
  test("PROTOCOL: with tools: actions, step.completed, one result per call, next step", () => {
    const session = startTurn();
    const asked = session.apply(calls(toolCall("t1"), toolCall("t2")));
    expect(session.types(asked)).toEqual(["actions.requested", "step.completed"]);
    expect(session.effects().map(({ id }) => id)).toEqual(["tool:turn_0:t1", "tool:turn_0:t2"]);
    expect(session.types(session.apply(toolSettled("t2")))).toEqual(["action.result"]);
    expect(session.types(session.apply(toolSettled("t1")))).toEqual(["action.result", "step.started"]);
    expect(session.events("step.started").map(({ stepIndex }) => stepIndex)).toEqual([0, 1]);
  });

  test("§4 a refused call fails with its reason, and the model is asked again", () => {
    const session = startTurn();
    const refused = {
      callId: "x",
      name: "gone",
      input: {},
      target: { kind: "refused", code: "UNKNOWN_TOOL", message: "no such tool" },
    } as const;
    const made = session.apply(calls(refused));
    expect(session.events("action.result", made)[0]).toMatchObject({
      status: "failed",
      result: { output: "no such tool" },
    });
    expect(session.types(made).at(-1)).toBe("step.started");
  });

  test("calls with one id in one response are told apart", () => {
    const session = startTurn();
    session.apply(calls(toolCall("call_0"), toolCall("call_0")));
    const { actions } = session.events("actions.requested")[0]!;
    expect(new Set(actions.map(({ callId }) => callId)).size).toBe(2);
    expect(session.effects()).toHaveLength(2);
  });

  test("calls of a provider that numbers them anew are told apart in the whole session", () => {
    const session = startTurn();
    for (const turn of [0, 1]) {
      session.apply(calls(toolCall("call_0")));
      const [effect] = session.effects();
      session.apply(toolSettled(effect!.kind === "tool" ? effect!.call.callId : "", `result ${turn}`));
      session.apply(says("ok"));
      if (turn === 0) session.apply(deliver("more"));
    }
    const ids = session.events("actions.requested").flatMap(({ actions }) => actions.map(({ callId }) => callId));
    expect(new Set(ids).size).toBe(2);
  });
});

describe("§16 messages to a turn under way", () => {
  test("the same caller steers: the message is read at the next step boundary", () => {
    const session = startTurn();
    session.apply(calls(toolCall("t1")));
    expect(session.types(session.apply(deliver("wait")))).toEqual([]);
    expect(session.types(session.apply(toolSettled("t1")))).toEqual([
      "action.result",
      "message.received",
      "step.started",
    ]);
    expect(session.events("turn.started")).toHaveLength(1);
  });

  test("a steering message keeps the turn open that was about to end", () => {
    const session = startTurn();
    session.apply({ kind: "model.began" });
    session.apply(deliver("wait"));
    expect(session.types(session.apply(says("bye")))).toEqual([
      "message.completed",
      "step.completed",
      "message.received",
      "step.started",
    ]);
  });

  test("another caller does not steer: the message starts the next turn, as that caller", () => {
    const session = startTurn();
    session.apply(deliver("mine", { principal: BOB }));
    const made = session.apply(says("bye"));
    expect(session.types(made).slice(2)).toEqual([
      "turn.completed",
      "session.waiting",
      "turn.started",
      "message.received",
      "step.started",
    ]);
    expect(session.state.turn?.principal).toEqual(BOB);
  });

  test("`queue` starts the next turn", () => {
    const session = startTurn();
    session.apply(deliver("later", { policy: "queue" }));
    session.apply(says("bye"));
    expect(session.events("turn.started")).toHaveLength(2);
  });

  test("messages keep their order: one that may steer does not overtake one that may not", () => {
    const session = startTurn();
    session.apply(deliver("bob", { principal: BOB }));
    session.apply(deliver("ada again"));
    session.apply(says("bye"));
    expect(session.events("message.received").map((data) => data.message)).toEqual(["hello", "bob"]);
    session.apply(says("bye bob"));
    expect(session.events("message.received").map((data) => data.message)).toEqual(["hello", "bob", "ada again"]);
    expect(session.state.turn?.principal).toEqual(ADA);
  });

  test("messages that waited together start one turn", () => {
    const session = startTurn();
    session.apply(deliver("q1", { policy: "queue" }));
    session.apply(deliver("s2"));
    session.apply(says("bye"));
    expect(session.events("turn.started")).toHaveLength(2);
    expect(session.events("message.received").map((data) => data.message)).toEqual(["hello", "q1", "s2"]);
  });

  test("every delivery names itself in the one message.received that reads it", () => {
    const session = startTurn({ first: message("hello", { deliveryId: "d1" }) });
    session.apply(deliver("more", { deliveryId: "d2" }));
    session.apply(says("bye"));
    const read = session.entries.flatMap((entry) =>
      entry.type === "message.received" ? [entry.inner!.deliveryIds] : [],
    );
    expect(read).toEqual([["d1"], ["d2"]]);
  });

  test("§16 a child parks after answering and takes the next message", () => {
    const child = startChild();
    child.apply(says("done"));
    expect(child.state.turn).toBeUndefined();
    expect(child.state.ended).toBe(false);
    child.apply(deliver("more", { replyTo: { kind: "local", callId: "c2" } }));
    expect(child.events("turn.started")).toHaveLength(2);
  });
});
