import { describe, expect, test } from "vitest";
import {
  agentCall,
  calls,
  deliver,
  lastTask,
  remoteAccepted,
  remoteCall,
  replied,
  says,
  startChild,
  startTurn,
  toolCall,
  modelFails,
} from "./session.fixture.ts";

describe("§6.4 cancel", () => {
  test("a plain turn: its effects are no longer wanted, the session waits", () => {
    const session = startTurn();
    expect(session.types(session.apply({ kind: "cancel" }))).toEqual(["turn.cancelled", "session.waiting"]);
    expect(session.effects()).toEqual([]);
  });

  test("a turn with tools: no tool is wanted any more", () => {
    const session = startTurn();
    session.apply(calls(toolCall("t1")));
    session.apply({ kind: "cancel", turnId: "turn_0" });
    expect(session.effects()).toEqual([]);
  });

  test("another turn's id cancels nothing", () => {
    const session = startTurn();
    expect(session.apply({ kind: "cancel", turnId: "turn_7" }).entries).toEqual([]);
  });

  test("settles waiting calls as cancelled, keeps the task and tells the child", () => {
    const session = startTurn();
    session.apply(calls(agentCall("c1")));
    session.apply(calls(agentCall("c2", lastTask(session)), agentCall("c3")));
    const made = session.apply({ kind: "cancel" });
    expect(
      session.events("task.settled", made).map(({ callId, status, cancel }) => [callId, status, cancel?.reason]),
    ).toEqual([
      ["c1", "cancelled", "turn_cancelled"],
      ["c2", "cancelled", "turn_cancelled"],
      ["c3", "cancelled", "turn_cancelled"],
    ]);
    expect(Object.values(session.state.tasks).map(({ status }) => status)).toEqual(["idle", "idle"]);
    expect(made.posts.map(({ sessionId, input }) => [sessionId, input.kind])).toEqual([
      ["ses_1.1", "cancel"],
      ["ses_1.2", "cancel"],
    ]);
  });

  test("a child passes it on to its own children", () => {
    const child = startChild();
    child.apply(calls(agentCall("g1")));
    const made = child.apply({ kind: "cancel" });
    expect(made.posts.map(({ sessionId, input }) => [sessionId, input.kind])).toEqual([
      ["ses_child.1", "cancel"],
      ["ses_parent", "child.settled"],
    ]);
  });

  test("a child does not go on with a message whose call was cancelled with it", () => {
    const child = startChild();
    child.apply(deliver("joins", { replyTo: { kind: "local", callId: "c2" } }));
    const made = child.apply({ kind: "cancel" });
    expect(child.types(made)).toEqual(["turn.cancelled", "session.waiting"]);
    expect(made.posts.at(-1)!.input).toMatchObject({ status: "cancelled", callIds: ["c1", "c2"] });
    expect(child.effects()).toEqual([]);
  });

  test("a person's message that waited is not lost with the cancelled turn", () => {
    const child = startChild();
    child.apply(deliver("from a person"));
    child.apply({ kind: "cancel" });
    expect(child.events("message.received").at(-1)!.message).toBe("from a person");
  });

  test("the child's late reply makes nothing", () => {
    const session = startTurn();
    session.apply(calls(agentCall("c1")));
    session.apply({ kind: "cancel" });
    expect(session.apply(replied(["c1"], "late")).entries).toEqual([]);
  });

  test("a cancelled task can be continued", () => {
    const session = startTurn();
    session.apply(calls(agentCall("c1")));
    session.apply({ kind: "cancel" });
    session.apply(deliver("go on"));
    session.apply(calls(agentCall("c2", lastTask(session))));
    expect(session.posts.at(-1)).toMatchObject({ sessionId: "ses_1.1", input: { kind: "deliver" } });
  });

  test("§6.7 a result that had arrived and was not read yet is read in the next turn", () => {
    const session = startTurn();
    session.apply(calls(agentCall("c1"), agentCall("c2")));
    session.apply(replied(["c1"], "arrived"));
    session.apply({ kind: "cancel" });
    session.apply(deliver("what did you find?"));
    expect(session.notes().join("\n")).toContain("arrived");
  });

  test("a queued message starts the next turn", () => {
    const session = startTurn();
    session.apply(deliver("next", { policy: "queue" }));
    expect(session.types(session.apply({ kind: "cancel" }))).toEqual([
      "turn.cancelled",
      "session.waiting",
      "turn.started",
      "message.received",
      "step.started",
    ]);
  });
});

describe("§6.10 a turn that fails ends its tasks' work", () => {
  test("waiting calls are cancelled with turn_ended", () => {
    const session = startTurn();
    session.apply(calls(agentCall("c1")));
    const made = session.apply(modelFails(false));
    expect(session.events("task.settled", made)[0]).toMatchObject({
      status: "cancelled",
      cancel: { reason: "turn_ended" },
    });
    expect(made.posts[0]).toMatchObject({ sessionId: "ses_1.1", input: { kind: "cancel" } });
  });

  test("a failed child does not go on with a message whose call failed with it", () => {
    const child = startChild();
    child.apply(deliver("joins", { replyTo: { kind: "local", callId: "c2" } }));
    child.apply(modelFails(false));
    expect(child.state.turn).toBeUndefined();
  });
});

describe("§16 reset", () => {
  test("ends the session, its tasks, and resets local children", () => {
    const session = startTurn();
    session.apply(calls(agentCall("c1")));
    session.apply(replied(["c1"], "one"));
    session.apply(calls(agentCall("c2")));
    const made = session.apply({ kind: "reset", reason: "enough" });
    expect(session.events("session.completed")[0]).toMatchObject({ reason: "enough" });
    expect(session.events("task.settled", made)).toMatchObject([{ callId: "c2", cancel: { reason: "turn_ended" } }]);
    expect(made.posts.filter(({ input }) => input.kind === "reset").map(({ sessionId }) => sessionId)).toEqual([
      "ses_1.1",
      "ses_1.2",
    ]);
    expect(session.effects()).toEqual([]);
  });

  test("in the middle of a turn: the turn is cancelled first", () => {
    const session = startTurn();
    expect(session.types(session.apply({ kind: "reset" }))).toEqual(["turn.cancelled", "session.completed"]);
    expect(session.effects()).toEqual([]);
  });

  test("asks remote children to reset", () => {
    const session = startTurn();
    session.apply(calls(remoteCall("c1")));
    session.apply(remoteAccepted(lastTask(session), "c1"));
    session.apply({ kind: "reset" });
    expect(session.state.outbox.map(({ kind }) => kind)).toContain("reset");
    expect(session.effects().every(({ kind }) => kind === "outgoing")).toBe(true);
  });

  test("nothing is accepted afterwards", () => {
    const session = startTurn();
    session.apply({ kind: "reset" });
    for (const input of [deliver("hello?"), { kind: "cancel" }, { kind: "reset" }, says("late")] as const) {
      expect(session.apply(input).entries).toEqual([]);
    }
  });

  test("a child that is reset settles every call that waits for it, read or not", () => {
    const child = startChild();
    child.apply(deliver("joins", { replyTo: { kind: "local", callId: "c2" } }));
    const made = child.apply({ kind: "reset" });
    expect(made.posts.at(-1)!.input).toMatchObject({ kind: "child.settled", callIds: ["c1", "c2"] });
  });

  test("a child that was reset answers a later call: the parent never waits for nobody", () => {
    const child = startChild();
    child.apply(says("one"));
    child.apply({ kind: "reset" });
    const made = child.apply(deliver("more", { deliveryId: "d9", replyTo: { kind: "local", callId: "c2" } }));
    expect(made.posts.at(-1)).toMatchObject({
      sessionId: "ses_parent",
      input: { kind: "child.settled", callIds: ["c2"], status: "failed" },
    });
  });
});
