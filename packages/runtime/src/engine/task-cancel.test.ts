import { describe, expect, test } from "vitest";
import type { ResolvedCall } from "./input.ts";
import {
  agentCall,
  calls,
  deliver,
  lastTask,
  refold,
  remoteAccepted,
  remoteCall,
  replied,
  says,
  startChild,
  startTurn,
  stopCall,
  type TestSession,
} from "./session.fixture.ts";

/** A task that works, and the model's next step. */
function working(call: ResolvedCall = agentCall("c1")): TestSession {
  const session = startTurn();
  session.apply(calls(call));
  return session;
}

const results = (session: TestSession) =>
  session.events("action.result").map(({ result, status }) => [result.callId, status, result.output as string]);
const settled = (session: TestSession) =>
  session.events("task.settled").map(({ callId, status, cancel }) => [callId, status, cancel?.reason]);

describe("§6.8 eve__task_cancel", () => {
  test("stops what a working task does, and says so", () => {
    const session = working();
    const taskId = lastTask(session);
    const made = session.apply(calls(stopCall("s1", taskId)));
    expect(session.types(made)).toEqual([
      "actions.requested",
      "step.completed",
      "task.settled",
      "action.result",
      "step.started",
    ]);
    expect(settled(session)).toEqual([["c1", "cancelled", "task_cancel"]]);
    expect(results(session).at(-1)).toEqual(["s1", "completed", expect.stringContaining(`${taskId} was stopped`)]);
    expect(made.posts.map(({ sessionId, input }) => [sessionId, input.kind])).toEqual([["ses_1.1", "cancel"]]);
    expect(session.state.tasks[taskId]!.status).toBe("idle");
  });

  test("its model is not told a second time by a result", () => {
    const session = working();
    session.apply(calls(stopCall("s1", lastTask(session))));
    expect(session.notes().filter((note) => note.includes("<task_result"))).toEqual([]);
    expect(session.types(session.apply(says("done")))).toContain("turn.completed");
  });

  test("both calls that a joined task owes", () => {
    const session = working();
    session.apply(calls(agentCall("c2", lastTask(session))));
    session.apply(calls(stopCall("s1", lastTask(session))));
    expect(settled(session)).toEqual([
      ["c1", "cancelled", "task_cancel"],
      ["c2", "cancelled", "task_cancel"],
    ]);
  });

  test("says of an idle task that there was nothing to stop", () => {
    const session = working();
    session.apply(replied(["c1"], "done"));
    const made = session.apply(calls(stopCall("s1", lastTask(session))));
    expect(results(session).at(-1)).toEqual(["s1", "completed", expect.stringContaining("nothing to stop")]);
    expect([made.posts, session.types(made).includes("task.settled")]).toEqual([[], false]);
  });

  test("the same of one that ended, and of a task that it has just stopped", () => {
    const session = working();
    session.apply({ kind: "child.settled", callIds: ["c1"], status: "failed" });
    session.apply(calls(stopCall("s1", lastTask(session))));
    session.apply(calls(agentCall("c2")));
    session.apply(calls(stopCall("s2", lastTask(session)), stopCall("s3", lastTask(session))));
    expect(results(session).slice(-2)).toEqual([
      ["s2", "completed", expect.stringContaining("was stopped")],
      ["s3", "completed", expect.stringContaining("nothing to stop")],
    ]);
    expect(results(session)[1]).toEqual(["s1", "completed", expect.stringContaining("nothing to stop")]);
  });

  test.each(["worker-zzzzzz", "", "constructor", "__proto__"])("%j, which names no task, is UNKNOWN_TASK", (taskId) => {
    const session = working();
    session.apply(calls(stopCall("s1", taskId)));
    expect(results(session).at(-1)).toEqual(["s1", "failed", expect.stringMatching(/^UNKNOWN_TASK: .*no task/)]);
    expect(session.state.tasks[lastTask(session)]!.status).toBe("working");
  });

  test("touches no other task", () => {
    const session = startTurn();
    session.apply(calls(agentCall("c1"), agentCall("c2")));
    const [first, second] = Object.keys(session.state.tasks);
    const made = session.apply(calls(stopCall("s1", first!)));
    expect(made.posts.map(({ sessionId }) => sessionId)).toEqual(["ses_1.1"]);
    expect(session.state.tasks[second!]!.status).toBe("working");
    session.apply(replied(["c2"], "second"));
    session.apply(says("wait"));
    expect(session.notes().join()).toContain("second");
  });

  test("a reply that was on its way does not count any more", () => {
    const session = working();
    session.apply(calls(stopCall("s1", lastTask(session))));
    expect(session.apply(replied(["c1"], "too late")).entries).toEqual([]);
    expect(refold(session.entries)).toEqual(session.state);
  });

  test("a child passes it on to its own children", () => {
    const child = startChild();
    child.apply(calls(agentCall("g1")));
    const made = child.apply({ kind: "cancel" });
    expect(made.posts.map(({ sessionId, input }) => [sessionId, input.kind])).toContainEqual(["ses_child.1", "cancel"]);
  });
});

describe("§6.4 a task that was stopped can be continued in the same response", () => {
  test("here: the cancel goes before the message", () => {
    const session = working();
    const taskId = lastTask(session);
    const made = session.apply(calls(stopCall("s1", taskId), agentCall("c2", taskId)));
    expect(made.posts.map(({ sessionId, input }) => [sessionId, input.kind])).toEqual([
      ["ses_1.1", "cancel"],
      ["ses_1.1", "deliver"],
    ]);
    expect(results(session).at(-1)![2]).toContain("has the message");
    session.apply(says("wait"));
    session.apply({ kind: "child.settled", callIds: ["c1"], status: "cancelled" });
    expect(session.state.tasks[taskId]!.status).toBe("working");
    session.apply(replied(["c2"], "the second"));
    expect(settled(session)).toEqual([
      ["c1", "cancelled", "task_cancel"],
      ["c2", "completed", undefined],
    ]);
  });

  test("the child stops its turn and answers the next message in another", () => {
    const child = startChild();
    child.apply({ kind: "cancel" });
    child.apply(deliver("instead", { replyTo: { kind: "local", callId: "c2" } }));
    child.apply(says("done"));
    expect(child.posts.map(({ input }) => input)).toMatchObject([
      { callIds: ["c1"], status: "cancelled" },
      { callIds: ["c2"], status: "completed", output: "done" },
    ]);
  });

  test("at a remote: the message waits until the cancel has arrived", () => {
    const session = working(remoteCall("c1"));
    const taskId = lastTask(session);
    session.apply(remoteAccepted(taskId, "c1"));
    session.apply(calls(stopCall("s1", taskId), remoteCall("c2", taskId)));
    const kinds = () => session.effects().map(({ kind }) => kind);
    expect(kinds()).toEqual(expect.arrayContaining(["outgoing"]));
    expect(kinds()).not.toContain("send");
    session.apply({ kind: "outgoing.done", id: session.state.outbox[0]!.id });
    expect(kinds()).toContain("send");
  });

  test("at a remote that has not accepted the first message yet: that is stopped once it has", () => {
    const session = working(remoteCall("c1"));
    const taskId = lastTask(session);
    session.apply(calls(stopCall("s1", taskId)));
    expect(session.state.outbox).toEqual([]);
    session.apply(remoteAccepted(taskId, "c1"));
    expect(session.state.outbox.map(({ kind }) => kind)).toEqual(["cancel"]);
  });
});
