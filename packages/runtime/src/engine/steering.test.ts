import { describe, expect, test } from "vitest";
import {
  agentCall,
  BEGAN,
  BOB,
  calls,
  deliver,
  lastTask,
  modelFails,
  refold,
  replied,
  says,
  spoken,
  startChild,
  startTurn,
  summary,
  toolCall,
  toolSettled,
  type TestSession,
} from "./session.fixture.ts";

const steered = (session: TestSession): boolean[] =>
  session.effects().flatMap((effect) => (effect.kind === "tool" ? [effect.steered] : []));

describe("§16 a steering message before any output", () => {
  test("restarts the model call in the same turn, as another attempt of the same step", () => {
    const session = startTurn();
    const [call] = session.effects();
    const made = session.apply(deliver("no, wait"));
    expect(session.types(made)).toEqual(["message.received", "step.started"]);
    expect(session.events("step.started", made)).toMatchObject([{ turnId: "turn_0", stepIndex: 0, attempt: 2 }]);
    expect(session.effects().map(({ id }) => id)).not.toContain(call!.id);
    expect(session.apply(says("too late"), call!.id).entries).toEqual([]);
    expect(spoken(session)).toEqual(["user: hello", "user: no, wait"]);
  });

  test("may come again and again, each is read once and in order", () => {
    const session = startTurn();
    for (const text of ["one", "two", "three"]) session.apply(deliver(text));
    expect(spoken(session)).toEqual(["user: hello", "user: one", "user: two", "user: three"]);
    expect(session.events("step.started").map(({ attempt }) => attempt)).toEqual([1, 2, 3, 4]);
    session.apply(says("ok"));
    expect(session.types().slice(-2)).toEqual(["turn.completed", "session.waiting"]);
  });

  test("is no failure of the provider, and forgives none", () => {
    const session = startTurn();
    session.apply(modelFails(true));
    session.apply(deliver("one"));
    session.apply(deliver("two"));
    session.apply(modelFails(true));
    expect(session.state.turn?.phase).toBe("model");
    expect(session.types(session.apply(modelFails(true)))).toContain("turn.failed");
  });

  test("restarts the step of a child, too: its reply then settles both calls", () => {
    const child = startChild("c1");
    child.apply(deliver("more", { replyTo: { kind: "local", callId: "c2" } }));
    child.apply(says("both"));
    expect(child.posts).toMatchObject([{ input: { callIds: ["c1", "c2"], output: "both" } }]);
  });

  test.each([
    ["of somebody else", { principal: BOB }],
    ["that waits for the turn's end", { policy: "queue" } as const],
  ])("restarts nothing when it is one %s", (_, options) => {
    const session = startTurn();
    const [call] = session.effects();
    expect(session.types(session.apply(deliver("later", options)))).toEqual([]);
    expect(session.effects()).toEqual([call]);
  });

  test("restarts nothing when it waits behind one that may not steer", () => {
    const session = startTurn();
    session.apply(deliver("bob's", { principal: BOB }));
    expect(session.types(session.apply(deliver("ada's")))).toEqual([]);
    session.apply(says("ok"));
    session.apply(says("ok, bob"));
    expect(session.events("message.received").map(({ message }) => message)).toEqual(["hello", "bob's", "ada's"]);
  });
});

describe("§16 a steering message after the first output", () => {
  test("lets the model finish, and is read at the step boundary", () => {
    const session = startTurn();
    session.apply(BEGAN);
    expect(session.types(session.apply(deliver("and this?")))).toEqual([]);
    expect(session.types(session.apply(says("so")))).toEqual([
      "message.completed",
      "step.completed",
      "message.received",
      "step.started",
    ]);
  });

  test("the next step can be restarted again", () => {
    const session = startTurn();
    session.apply(BEGAN);
    session.apply(deliver("one"));
    session.apply(says("so"));
    expect(session.types(session.apply(deliver("two")))).toEqual(["message.received", "step.started"]);
  });

  test("output begins once an attempt, only while the model is asked, and survives a restart", () => {
    const session = startTurn();
    expect(session.apply(BEGAN).entries).toHaveLength(1);
    expect(session.apply(BEGAN).entries).toEqual([]);
    expect(refold(session.entries)).toEqual(session.state);
    session.apply(calls(toolCall("t1")));
    expect(session.apply(BEGAN).entries).toEqual([]);
    session.apply(toolSettled("t1"));
    session.apply(says("ok"));
    expect(session.apply(BEGAN).entries).toEqual([]);
  });

  test.each([
    ["the provider fails", modelFails(true)],
    ["a crash stops it", { kind: "effect.interrupted", effectId: "model:turn_0:0:1" } as const],
  ])("what the model began is void when %s: the next attempt answers the message, too", (_, input) => {
    const session = startTurn();
    session.apply(BEGAN);
    session.apply(deliver("and this?"));
    const made = session.apply(input);
    expect(session.types(made).slice(-2)).toEqual(["message.received", "step.started"]);
    expect(session.events("step.started", made)).toMatchObject([{ stepIndex: 0, attempt: 2 }]);
    session.apply(says("so"));
    expect(session.types().slice(-2)).toEqual(["turn.completed", "session.waiting"]);
  });
});

describe("§16 a steering message while tools run", () => {
  test("asks all of them to stop early; what they return counts", () => {
    const session = startTurn();
    session.apply(calls(toolCall("t1"), toolCall("t2")));
    const ids = session.effects().map(({ id }) => id);
    expect(steered(session)).toEqual([false, false]);
    session.apply(deliver("stop"));
    expect(session.effects().map(({ id }) => id)).toEqual(ids);
    expect(steered(session)).toEqual([true, true]);
    expect(refold(session.entries)).toEqual(session.state);
    session.apply(toolSettled("t1", "half"));
    expect(steered(session)).toEqual([true]);
    session.apply(toolSettled("t2"));
    expect(spoken(session)).toEqual(["user: hello", "model: <t1><t2>", "tool: t1", "tool: t2", "user: stop"]);
    session.apply(calls(toolCall("t3")));
    expect(steered(session)).toEqual([false]);
  });

  test("reaches a tool that was asked for while the message already waited", () => {
    const session = startTurn();
    session.apply(BEGAN);
    session.apply(deliver("do not!"));
    session.apply(calls(toolCall("t1")));
    expect(steered(session)).toEqual([true]);
  });

  test.each([
    ["is somebody else's", { principal: BOB }],
    ["waits for the turn's end", { policy: "queue" } as const],
  ])("stops nothing when it %s, nor does one behind it", (_, options) => {
    const session = startTurn();
    session.apply(calls(toolCall("t1")));
    session.apply(deliver("later", options));
    session.apply(deliver("behind"));
    expect(steered(session)).toEqual([false]);
    expect(session.types(session.apply(toolSettled("t1")))).toEqual(["action.result", "step.started"]);
  });

  test("never touches a task", () => {
    const session = startTurn();
    session.apply(calls(agentCall("c1"), toolCall("t1")));
    const posts = session.posts.length;
    session.apply(deliver("stop"));
    expect(session.posts).toHaveLength(posts);
    expect(session.events("task.settled")).toEqual([]);
    expect(session.state.tasks[lastTask(session)]?.status).toBe("working");
  });
});

describe("§16 a steering message to a turn that waits", () => {
  test("for tasks wakes it; results that come meanwhile are read behind it", () => {
    const session = startTurn();
    session.apply(calls(agentCall("c1"), agentCall("c2")));
    session.apply(says("wait"));
    session.apply(deliver("well?"));
    session.apply(BEGAN);
    session.apply(replied(["c1"], "one"));
    session.apply(deliver("and now?"));
    session.apply(says("still"));
    expect(spoken(session).slice(-3, -1)).toEqual(["user: and now?", expect.stringContaining(">one<")]);
    expect(session.state.turn?.phase).toBe("model");
  });

  test("for a shorter history is read with the step that follows", () => {
    const session = startTurn({ compactAt: 20 });
    session.apply(BEGAN);
    session.apply(deliver("x".repeat(200)));
    session.apply(says("y"));
    expect(session.state.turn?.phase).toBe("compact");
    expect(session.types(session.apply(deliver("quick")))).toEqual([]);
    expect(session.types(session.apply(summary("short")))).toEqual([
      "compaction.completed",
      "message.received",
      "step.started",
    ]);
    expect(spoken(session).at(-1)).toBe("user: quick");
  });
});
