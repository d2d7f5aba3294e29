import { describe, expect, test } from "vitest";
import {
  agentCall,
  calls,
  deliver,
  lastTask,
  replied,
  says,
  startChild,
  startTurn,
  type TestSession,
} from "./session.fixture.ts";
import { refold } from "./session.fixture.ts";

/** A parent whose one task waits for two calls. */
function joined(): TestSession {
  const session = startTurn();
  session.apply(calls(agentCall("c1")));
  session.apply(calls(agentCall("c2", lastTask(session))));
  session.apply(says("wait"));
  return session;
}

const shown = (session: TestSession, text: string): number => session.notes().join("\n").split(text).length - 1;

describe("§6.3 a call that joins a working task", () => {
  test("reaches the same child", () => {
    const session = joined();
    expect(session.posts.map(({ sessionId, input }) => [sessionId, input.kind])).toEqual([
      ["ses_1.1", "open"],
      ["ses_1.1", "deliver"],
    ]);
  });

  test("one reply settles both calls, and the model reads it once", () => {
    const session = joined();
    expect(session.types(session.apply(replied(["c1", "c2"], "the answer")))).toEqual([
      "task.settled",
      "task.settled",
      "step.started",
    ]);
    expect(session.events("task.settled").map(({ callId, output }) => [callId, output])).toEqual([
      ["c1", "the answer"],
      ["c2", "the answer"],
    ]);
    expect(shown(session, "the answer")).toBe(1);
  });

  test("read too late: nothing settles until the turn that reads it ends, then both do", () => {
    const session = joined();
    expect(session.types(session.apply(replied(["c1"], "first")))).toEqual([]);
    expect(session.state.turn!.phase).toBe("tasks");
    session.apply(replied(["c2"], "second"));
    expect(session.events("task.settled").map(({ callId, output }) => [callId, output])).toEqual([
      ["c1", "second"],
      ["c2", "second"],
    ]);
    expect(shown(session, "second")).toBe(1);
    expect(shown(session, "first")).toBe(0);
  });

  test("the child folds a message of its own turn into it and answers both calls", () => {
    const child = startChild();
    child.apply({ kind: "model.began" });
    child.apply(deliver("and this", { replyTo: { kind: "local", callId: "c2" } }));
    child.apply(says("interim"));
    child.apply(says("both done"));
    expect(child.posts).toEqual([
      {
        sessionId: "ses_parent",
        id: "reply:ses_child:turn_0",
        input: { kind: "child.settled", callIds: ["c1", "c2"], status: "completed", output: "both done" },
      },
    ]);
  });

  test("the child reads a late message in its next turn", () => {
    const child = startChild();
    child.apply(says("one"));
    child.apply(deliver("late", { replyTo: { kind: "local", callId: "c2" } }));
    child.apply(says("two"));
    expect(child.posts.map(({ id, input }) => [id, input.kind === "child.settled" && input.callIds])).toEqual([
      ["reply:ses_child:turn_0", ["c1"]],
      ["reply:ses_child:turn_1", ["c2"]],
    ]);
  });

  test.each(["failed", "cancelled"] as const)("a child's turn that %s settles both calls", (status) => {
    const session = joined();
    session.apply({ kind: "child.settled", callIds: ["c1"], status });
    expect(session.events("task.settled").map((data) => [data.callId, data.status])).toEqual([
      ["c1", status],
      ["c2", status],
    ]);
    expect(session.state.tasks[lastTask(session)]!.status).toBe(status === "failed" ? "ended" : "idle");
  });

  test("§6.10 a cancelled call always says why", () => {
    const session = joined();
    session.apply({ kind: "child.settled", callIds: ["c1"], status: "cancelled" });
    for (const data of session.events("task.settled")) expect(data.cancel?.reason).toBe("turn_cancelled");
  });

  test("a child that got on with a message settled with the others is stopped, each time under an id of its own", () => {
    const session = startTurn();
    for (const round of [1, 2]) {
      session.apply(calls(agentCall(`a${round}`, round === 1 ? undefined : lastTask(session))));
      session.apply(calls(agentCall(`b${round}`, lastTask(session))));
      session.apply({ kind: "child.settled", callIds: [`a${round}`], status: "cancelled" });
    }
    const cancels = session.posts.filter(({ input }) => input.kind === "cancel");
    expect(cancels.map(({ sessionId }) => sessionId)).toEqual(["ses_1.1", "ses_1.1"]);
    expect(new Set(cancels.map(({ id }) => id)).size).toBe(2);
  });

  test("a restart between the two replies changes nothing", () => {
    const session = joined();
    session.apply(replied(["c1"], "first"));
    expect(refold(session.entries)).toEqual(session.state);
  });
});

describe("§6.6 results while the model works", () => {
  test("a reply that comes while the model answers is read in the next step, before the turn ends", () => {
    const session = startTurn();
    session.apply(calls(agentCall("c1")));
    session.apply(replied(["c1"], "quick"));
    expect(session.types(session.apply(says("I am done.")))).toEqual([
      "message.completed",
      "step.completed",
      "step.started",
    ]);
    expect(shown(session, "quick")).toBe(1);
  });

  test("several results of one step boundary share one message", () => {
    const session = startTurn();
    session.apply(calls(agentCall("c1"), agentCall("c2")));
    session.apply(replied(["c1"], "first"));
    session.apply(replied(["c2"], "second"));
    session.apply(says("wait"));
    const results = session.notes().filter((note) => note.includes("<task_result"));
    expect(results).toHaveLength(1);
    expect(results[0]!.split("\n")).toHaveLength(2);
  });

  test("one result wakes a held turn, the turn waits again for the other", () => {
    const session = startTurn();
    session.apply(calls(agentCall("c1"), agentCall("c2")));
    session.apply(says("wait"));
    session.apply(replied(["c2"], "second"));
    expect(session.types(session.apply(says("still one")))).toContain("turn.waiting");
    session.apply(replied(["c1"], "first"));
    expect(session.types(session.apply(says("done")))).toContain("turn.completed");
  });

  test("PROTOCOL: in a child, text before a held wait is no reply", () => {
    const child = startChild();
    child.apply(calls(agentCall("g1")));
    child.apply(says("one moment"));
    child.apply(replied(["g1"], "grandchild"));
    child.apply(says("the reply"));
    expect(child.events("message.completed").map(({ finishReason }) => finishReason)).toEqual(["tool-calls", "stop"]);
    expect(child.posts.at(-1)).toMatchObject({ input: { output: "the reply" } });
  });

  test("§16 a steering message wakes a held turn and touches no task", () => {
    const session = startTurn();
    session.apply(calls(agentCall("c1")));
    session.apply(says("wait"));
    expect(session.types(session.apply(deliver("hurry")))).toEqual(["message.received", "step.started"]);
    expect(session.state.tasks[lastTask(session)]!.status).toBe("working");
    expect(session.types(session.apply(says("I do")))).toContain("turn.waiting");
  });

  test("§16 a message of another caller does not wake a held turn", () => {
    const session = startTurn();
    session.apply(calls(agentCall("c1")));
    session.apply(says("wait"));
    expect(session.types(session.apply(deliver("later", { policy: "queue" })))).toEqual([]);
  });
});
