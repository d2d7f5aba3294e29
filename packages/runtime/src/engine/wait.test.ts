import { describe, expect, test } from "vitest";
import { deadline } from "./deadline.ts";
import {
  ADA,
  agentCall,
  BOB,
  calls,
  deliver,
  lastTask,
  message,
  refold,
  remoteAccepted,
  remoteCall,
  replied,
  says,
  startChild,
  startTurn,
  stopCall,
  summary,
  toolCall,
  toolSettled,
  type TestSession,
  waitCall,
} from "./session.fixture.ts";

/** One task works, and the model waits for it. */
function waiting(timeoutMs?: number): TestSession {
  const session = startTurn();
  session.apply(calls(agentCall("c1")));
  session.apply(calls(waitCall("w1", timeoutMs)));
  return session;
}

/** What a wait was answered with, by call id. */
function answers(session: TestSession): Record<string, unknown> {
  return Object.fromEntries(
    session
      .events("action.result")
      .filter(({ result }) => result.toolName === "eve__task_wait")
      .map(({ result }) => [result.callId, result.output]),
  );
}

const RESULT = "A task has a result: it follows.";
const IDLE = "No task is at work.";
const TIME = "The time is up, and no task has a result yet.";

describe("§6.8 eve__task_wait ends at once", () => {
  test("when a result waits", () => {
    const session = startTurn();
    session.apply(calls(agentCall("c1"), agentCall("c2")));
    session.apply(replied(["c1"], "the answer"));
    expect(session.types(session.apply(calls(waitCall("w1"))))).toEqual([
      "actions.requested",
      "step.completed",
      "action.result",
      "step.started",
    ]);
    expect(answers(session)).toEqual({ w1: RESULT });
    expect(session.notes().join()).toContain("the answer");
  });

  test("when nothing works", () => {
    const session = startTurn();
    session.apply(calls(waitCall("w1", 60_000)));
    expect(answers(session)).toEqual({ w1: IDLE });
    expect(session.state.turn!.phase).toBe("model");
  });

  test("when a message waits that the turn may read", () => {
    const session = startTurn();
    session.apply(calls(agentCall("c1")));
    session.apply({ kind: "model.began" });
    session.apply(deliver("hurry"));
    session.apply(calls(waitCall("w1")));
    expect(answers(session).w1).toContain("A message has come");
    expect(session.events("message.received").at(-1)!.message).toBe("hurry");
  });
});

describe("§6.8 eve__task_wait parks the step", () => {
  test("nothing runs for it, and the turn is not held at its end", () => {
    const session = waiting();
    expect(session.state.turn!.phase).toBe("calls");
    expect(session.effects()).toEqual([]);
    expect(session.types()).not.toContain("turn.waiting");
    expect(answers(session)).toEqual({});
  });

  test("until a task has a result, which the next step reads", () => {
    const session = waiting();
    expect(session.types(session.apply(replied(["c1"], "the answer")))).toEqual([
      "task.settled",
      "action.result",
      "step.started",
    ]);
    expect(answers(session)).toEqual({ w1: RESULT });
    expect(session.notes().filter((note) => note.includes("the answer"))).toHaveLength(1);
    expect(session.types(session.apply(says("done")))).toContain("turn.completed");
  });

  test.each(["failed", "cancelled"] as const)("until a task has %s", (status) => {
    const session = waiting();
    session.apply({ kind: "child.settled", callIds: ["c1"], status });
    expect(answers(session)).toEqual({ w1: RESULT });
    expect(session.state.turn!.phase).toBe("model");
  });

  test("until a remote has failed to take the message", () => {
    const session = startTurn();
    session.apply(calls(remoteCall("c1"), waitCall("w1")));
    const taskId = lastTask(session);
    session.apply({ kind: "remote.failed", taskId, callId: "c1", code: "REMOTE_FAILED", message: "unreachable" });
    expect(answers(session)).toEqual({ w1: RESULT });
    expect(session.notes().join()).toContain("unreachable");
  });

  test("until an effect of its task has been given up", () => {
    const session = startTurn();
    session.apply(calls(remoteCall("c1"), waitCall("w1")));
    const [send] = session.effects();
    session.apply({ kind: "effect.failed", effectId: send!.id, message: "broke" }, send!.id);
    expect(answers(session)).toEqual({ w1: RESULT });
  });

  test("until a call was overdue", () => {
    const session = waiting();
    session.apply({ kind: "call.overdue", taskId: lastTask(session), callId: "c1", code: "TASK_TIMEOUT" });
    expect(answers(session)).toEqual({ w1: RESULT });
  });

  test("until a message of its caller comes, which touches no task", () => {
    const session = waiting();
    expect(session.types(session.apply(deliver("hurry")))).toEqual([
      "action.result",
      "message.received",
      "step.started",
    ]);
    expect(session.state.tasks[lastTask(session)]!.status).toBe("working");
  });

  test.each([
    ["that is to wait", { policy: "queue" as const, principal: ADA }],
    ["of another caller", { policy: "steer" as const, principal: BOB }],
  ])("not until a message %s", (_, options) => {
    const session = waiting();
    expect(session.types(session.apply(deliver("later", options)))).toEqual([]);
    session.apply(replied(["c1"], "the answer"));
    expect(answers(session)).toEqual({ w1: RESULT });
  });

  test("not until a task is read to a part only: a message that joined it is open", () => {
    const session = startTurn();
    session.apply(calls(agentCall("c1")));
    session.apply(calls(agentCall("c2", lastTask(session)), waitCall("w1")));
    expect(session.types(session.apply(replied(["c1"], "first")))).toEqual([]);
    session.apply(replied(["c2"], "second"));
    expect(answers(session)).toEqual({ w1: RESULT });
  });

  test("in a child as in a root session", () => {
    const child = startChild();
    child.apply(calls(agentCall("g1"), waitCall("w1")));
    child.apply(replied(["g1"], "grandchild"));
    expect(answers(child)).toEqual({ w1: RESULT });
    child.apply(says("the reply"));
    expect(child.posts.at(-1)).toMatchObject({ input: { kind: "child.settled", output: "the reply" } });
  });
});

describe("§6.8 the time of eve__task_wait", () => {
  test("is what the session wants to be told of", () => {
    const session = waiting(5_000);
    expect(deadline(session.state)).toBe(5_000);
    expect(session.pass(4_999).entries).toEqual([]);
    expect(session.types(session.pass(1))).toEqual(["action.result", "step.started"]);
    expect(answers(session)).toEqual({ w1: TIME });
    expect(session.state.tasks[lastTask(session)]!.status).toBe("working");
    expect(deadline(session.state)).toBeUndefined();
  });

  test("has no end unless the call sets one", () => {
    const session = waiting();
    expect(deadline(session.state)).toBeUndefined();
    expect(session.pass(1e12).entries).toEqual([]);
  });

  test("does not end the session that is over age", () => {
    const session = startTurn({ sessionTimeoutMs: 1_000 });
    session.apply(calls(agentCall("c1"), waitCall("w1", 2_000)));
    expect(deadline(session.state)).toBe(2_000);
    session.pass(1_500);
    expect(answers(session)).toEqual({});
    session.pass(500);
    expect(answers(session)).toEqual({ w1: TIME });
    expect(session.state.ended).toBe(false);
  });

  test("is kept by a restart", () => {
    const session = waiting(5_000);
    const again = refold(session.entries)!;
    expect(again).toEqual(session.state);
    expect(deadline(again)).toBe(5_000);
  });

  test("a result that came before the time was told of comes first", () => {
    const session = waiting(5_000);
    session.apply(replied(["c1"], "the answer"));
    expect(session.pass(5_000).entries).toEqual([]);
    expect(answers(session)).toEqual({ w1: RESULT });
  });
});

describe("§6.8 eve__task_wait beside other calls of its response", () => {
  test("several waits: each has its own time, and the step goes on behind the last", () => {
    const session = startTurn();
    session.apply(calls(agentCall("c1"), waitCall("w1", 1_000), waitCall("w2", 3_000), waitCall("w3")));
    expect(deadline(session.state)).toBe(1_000);
    session.pass(1_000);
    expect(answers(session)).toEqual({ w1: TIME });
    expect([session.state.turn!.phase, deadline(session.state)]).toEqual(["calls", 3_000]);
    session.apply(replied(["c1"], "the answer"));
    expect(answers(session)).toEqual({ w1: TIME, w2: RESULT, w3: RESULT });
    expect(session.state.turn!.phase).toBe("model");
  });

  test("a tool: the step goes on when both have ended, whichever is first", () => {
    const first = startTurn();
    first.apply(calls(agentCall("c1"), toolCall("t1"), waitCall("w1")));
    first.apply(toolSettled("t1"));
    expect(first.state.turn!.phase).toBe("calls");
    first.apply(replied(["c1"], "the answer"));
    expect(first.state.turn!.phase).toBe("model");

    const second = startTurn();
    second.apply(calls(agentCall("c1"), toolCall("t1"), waitCall("w1")));
    second.apply(replied(["c1"], "the answer"));
    expect([second.state.turn!.phase, answers(second)]).toEqual(["calls", { w1: RESULT }]);
    second.apply(toolSettled("t1"));
    expect(second.state.turn!.phase).toBe("model");
    expect(second.notes().filter((note) => note.includes("the answer"))).toHaveLength(1);
  });

  test("an agent call behind it counts as a task to wait for", () => {
    const session = startTurn();
    session.apply(calls(waitCall("w1"), agentCall("c1")));
    expect(answers(session)).toEqual({});
    session.apply(replied(["c1"], "the answer"));
    expect(answers(session)).toEqual({ w1: RESULT });
  });

  test.each(["before", "behind"] as const)("a cancel of the last task %s it leaves nothing to wait for", (place) => {
    const session = startTurn();
    session.apply(calls(agentCall("c1")));
    const stop = stopCall("s1", lastTask(session));
    session.apply(calls(...(place === "before" ? [stop, waitCall("w1")] : [waitCall("w1"), stop])));
    expect(answers(session)).toEqual({ w1: IDLE });
    expect(session.state.turn!.phase).toBe("model");
  });
});

describe("a wait ends with its turn", () => {
  test("when that is cancelled", () => {
    const session = waiting(5_000);
    expect(session.types(session.apply({ kind: "cancel" }))).toEqual([
      "task.settled",
      "turn.cancelled",
      "session.waiting",
    ]);
    expect(session.pass(5_000).entries).toEqual([]);
    session.apply(deliver("next"));
    expect(session.state.turn!.phase).toBe("model");
  });

  test("when the session is reset", () => {
    const session = waiting(5_000);
    session.apply({ kind: "reset" });
    expect(deadline(session.state)).toBeUndefined();
    expect(session.pass(5_000).entries).toEqual([]);
  });

  test("a summary or a clear that was asked for comes behind the turn, and does not end the wait", () => {
    const session = waiting();
    expect(session.types(session.apply({ kind: "clear" }))).toEqual([]);
    session.apply(replied(["c1"], "the answer"));
    expect(session.types(session.apply(says("done")))).toContain("context.cleared");
  });

  test("the step behind it may begin with a summary", () => {
    const session = startTurn({ compactAt: 1_000, first: message("long ".repeat(200)) });
    session.apply(calls(agentCall("c1"), waitCall("w1")));
    session.apply(replied(["c1"], "long ".repeat(1_000)));
    expect([answers(session), session.state.turn!.phase]).toEqual([{ w1: RESULT }, "compact"]);
    session.apply(summary("short"));
    expect(session.state.turn!.phase).toBe("model");
  });
});

test("a wait for a remote ends with its reply", () => {
  const session = startTurn();
  session.apply(calls(remoteCall("c1"), waitCall("w1")));
  session.apply(remoteAccepted(lastTask(session), "c1"));
  expect(answers(session)).toEqual({});
  session.apply(replied(["c1"], "from far"));
  expect(answers(session)).toEqual({ w1: RESULT });
});
