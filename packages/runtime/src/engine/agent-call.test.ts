import { describe, expect, test } from "vitest";
import {
  agentCall,
  BOB,
  calls,
  deliver,
  lastTask,
  remoteAccepted,
  remoteCall,
  replied,
  says,
  startTurn,
  toolCall,
  type TestSession,
} from "./session.fixture.ts";
import { startedReceipt, unknownTask } from "./text.ts";

function outputOf(session: TestSession, callId: string): unknown {
  return session.events("action.result").find(({ result }) => result.callId === callId)?.result.output;
}

describe("§5 agent calls", () => {
  test("PROTOCOL: actions, task.started, receipt, agent.started, then the turn waits and goes on with the result", () => {
    const session = startTurn();
    const called = session.apply(calls(agentCall("c1")));
    expect(session.types(called)).toEqual([
      "actions.requested",
      "step.completed",
      "task.started",
      "action.result",
      "agent.started",
      "step.started",
    ]);
    expect(session.types(session.apply(says("One moment.")))).toEqual([
      "message.completed",
      "step.completed",
      "turn.waiting",
    ]);
    expect(session.events("turn.waiting")[0]).toMatchObject({ on: "tasks" });
    expect(session.types(session.apply(replied(["c1"], "42")))).toEqual(["task.settled", "step.started"]);
    expect(session.types(session.apply(says("It is 42.")))).toEqual([
      "message.completed",
      "step.completed",
      "turn.completed",
      "session.waiting",
    ]);
  });

  test("§5.3 the result of the call is a receipt that names the task", () => {
    const session = startTurn();
    session.apply(calls(agentCall("c1")));
    expect(outputOf(session, "c1")).toBe(startedReceipt(lastTask(session), "worker"));
  });

  test("§6.1 a task id is the tool name and six of [a-z0-9]", () => {
    const session = startTurn({ seed: "q" });
    session.apply(calls(agentCall("c1")));
    expect(lastTask(session)).toMatch(/^worker-[a-z0-9]{6}$/);
  });

  test("§5.4 the child gets the message in the wrapper, and who to answer", () => {
    const session = startTurn();
    session.apply(calls(agentCall("c1")));
    const [post] = session.posts;
    expect(post).toMatchObject({
      sessionId: "ses_1.1",
      input: {
        kind: "open",
        nodeId: "root/worker",
        origin: { kind: "local", parentSessionId: "ses_1", taskId: lastTask(session) },
        first: { replyTo: { kind: "local", callId: "c1" } },
      },
    });
    expect(JSON.stringify(post!.input)).toContain("do c1");
    expect(JSON.stringify(post!.input)).not.toContain("hello");
  });

  test("§10.6 streamPath is the child's own stream", () => {
    const session = startTurn();
    session.apply(calls(agentCall("c1")));
    expect(session.events("agent.started")[0]!.streamPath).toBe("/eve/test/v1/session/ses_1.1/stream");
  });

  test("§5.5 several calls of one step start in parallel, and a later step may start more", () => {
    const session = startTurn();
    session.apply(calls(agentCall("c1"), agentCall("c2")));
    session.apply(calls(agentCall("c3")));
    expect(session.posts.map(({ input }) => input.kind)).toEqual(["open", "open", "open"]);
    expect(new Set(session.posts.map(({ sessionId }) => sessionId)).size).toBe(3);
  });

  test("§6.6 an agent call beside a tool call: the step waits for the tool, the turn for the task", () => {
    const session = startTurn();
    expect(session.types(session.apply(calls(agentCall("c1"), toolCall("t1")))).at(-1)).toBe("agent.started");
    expect(session.effects().map(({ kind }) => kind)).toEqual(["tool"]);
    session.apply(replied(["c1"], "early"));
    expect(session.effects().map(({ kind }) => kind)).toEqual(["tool"]);
  });

  test("§6.10 agent.started comes once for a child session, however often it is called", () => {
    const session = startTurn();
    session.apply(calls(agentCall("c1")));
    session.apply(calls(agentCall("c2", lastTask(session))));
    expect(session.events("agent.started")).toHaveLength(1);
    expect(session.events("task.started")).toHaveLength(2);
  });
});

describe("§6.3 taskId", () => {
  test("continues an idle task's session", () => {
    const session = startTurn();
    session.apply(calls(agentCall("c1")));
    session.apply(replied(["c1"], "one"));
    session.apply(says("wait"));
    session.apply(says("done"));
    session.apply(deliver("more"));
    session.apply(calls(agentCall("c2", lastTask(session))));
    const post = session.posts.at(-1)!;
    expect(post).toMatchObject({
      sessionId: "ses_1.1",
      input: { kind: "deliver", delivery: { replyTo: { callId: "c2" } } },
    });
    expect(session.state.tasks[lastTask(session)]!.status).toBe("working");
  });

  test("an empty taskId means none", () => {
    const session = startTurn();
    session.apply(calls(agentCall("c1", "")));
    expect(session.events("agent.started")).toHaveLength(1);
    expect(session.state.tasks[lastTask(session)]!.status).toBe("working");
  });

  const prototypeNames = ["__proto__", "constructor", "toString"];
  test.each(["worker-zzzzzz", "ses_1.1", " ", "worker-000001 ", ...prototypeNames])(
    "%j, which names no task, is UNKNOWN_TASK",
    (taskId) => {
      const session = startTurn();
      session.apply(calls(agentCall("c1")));
      const before = session.state.tasks;
      session.apply(calls(agentCall("c2", taskId)));
      expect(outputOf(session, "c2")).toBe(unknownTask(taskId, "worker"));
      expect(session.state.tasks).toEqual(before);
      expect(session.posts).toHaveLength(1);
    },
  );

  test("a task of another tool is UNKNOWN_TASK", () => {
    const session = startTurn();
    session.apply(calls(agentCall("c1")));
    const taskId = lastTask(session);
    session.apply(calls(agentCall("c2", taskId, "reviewer")));
    expect(outputOf(session, "c2")).toBe(unknownTask(taskId, "reviewer"));
  });

  test("a task of another session is UNKNOWN_TASK", () => {
    const other = startTurn({ id: "ses_2", seed: "o" });
    other.apply(calls(agentCall("c1")));
    const session = startTurn();
    session.apply(calls(agentCall("c1", lastTask(other))));
    expect(outputOf(session, "c1")).toContain("UNKNOWN_TASK");
    expect(session.posts).toEqual([]);
  });

  test("§6.4 a failed task is ended, and so UNKNOWN_TASK", () => {
    const session = startTurn();
    session.apply(calls(agentCall("c1")));
    const taskId = lastTask(session);
    session.apply({ kind: "child.settled", callIds: ["c1"], status: "failed", error: { code: "X", message: "broke" } });
    expect(session.events("task.settled")[0]).toMatchObject({ status: "failed", error: { message: "broke" } });
    expect(session.state.tasks[taskId]!.status).toBe("ended");
    session.apply(calls(agentCall("c2", taskId)));
    expect(outputOf(session, "c2")).toBe(unknownTask(taskId, "worker"));
  });
});

describe("§6.5 at most 32 working tasks", () => {
  const full = (): TestSession => {
    const session = startTurn();
    session.apply(calls(...Array.from({ length: 32 }, (_, n) => agentCall(`c${n}`))));
    return session;
  };

  test("the next start fails, and nothing of it shows", () => {
    const session = full();
    session.apply(calls(agentCall("c33")));
    expect(outputOf(session, "c33")).toContain("TOO_MANY_TASKS");
    expect(session.events("task.started")).toHaveLength(32);
    expect(session.posts).toHaveLength(32);
  });

  test("continuing an idle one counts as a start, joining a working one does not", () => {
    const session = startTurn();
    session.apply(calls(agentCall("c1")));
    const idle = lastTask(session);
    session.apply(replied(["c1"], "one"));
    session.apply(calls(...Array.from({ length: 32 }, (_, n) => agentCall(`d${n}`))));
    const working = lastTask(session);
    session.apply(calls(agentCall("e1", idle), agentCall("e2", working)));
    expect(outputOf(session, "e1")).toContain("TOO_MANY_TASKS");
    expect(outputOf(session, "e2")).toContain(working);
  });

  test("a settled one makes room", () => {
    const session = full();
    session.apply(replied(["c0"], "one"));
    session.apply(says(""));
    session.apply(calls(agentCall("c33")));
    expect(outputOf(session, "c33")).toContain("is at work");
  });
});

test("§18.5 a task goes on as whoever continues it", () => {
  const session = startTurn();
  session.apply(calls(agentCall("c1"), remoteCall("r1")));
  const [here, there] = Object.keys(session.state.tasks);
  session.apply(remoteAccepted(there!, "r1"));
  session.apply(replied(["c1"], "one"));
  session.apply(replied(["r1"], "one"));
  session.apply(says("wait"));
  session.apply(says("done"));
  session.apply(deliver("go on", { principal: BOB }));
  session.apply(calls(agentCall("c2", here), remoteCall("r2", there)));
  expect(session.posts.at(-1)).toMatchObject({ input: { kind: "deliver", delivery: { principal: BOB } } });
  const send = session.effects().find((effect) => effect.kind === "send");
  expect(send).toMatchObject({ call: { callId: "r2", principal: BOB } });
});
