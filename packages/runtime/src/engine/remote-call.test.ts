import { describe, expect, test } from "vitest";
import type { EffectInput, Input } from "./input.ts";
import {
  calls,
  deliver,
  lastTask,
  openSession,
  message,
  remoteAccepted,
  remoteCall,
  refold,
  replied,
  says,
  startTurn,
  toolCall,
  toolSettled,
  USAGE,
  type TestSession,
} from "./session.fixture.ts";

const ids = (session: TestSession): string[] => session.effects().map(({ id }) => id);

function sent(): TestSession {
  const session = startTurn();
  session.apply(calls(remoteCall("c1")));
  session.apply(remoteAccepted(lastTask(session), "c1"));
  return session;
}

function callback(callId: string, output: string): Input {
  return { ...replied([callId], output), remote: { sessionId: "ses_far", url: "http://far" } } as Input;
}

const sendFailed = (taskId: string, callId: string): EffectInput => ({
  kind: "remote.failed",
  taskId,
  callId,
  code: "REMOTE_FAILED",
  message: "The remote answered 400",
});

describe("§10.2 calls of a remote agent", () => {
  test("agent.started comes when the remote accepted, with the relay's path", () => {
    const session = startTurn();
    session.apply(calls(remoteCall("c1")));
    const taskId = lastTask(session);
    expect(session.events("agent.started")).toEqual([]);
    expect(ids(session)).toContain(`send:${taskId}:c1`);
    session.apply(remoteAccepted(taskId, "c1", "ses/far"));
    expect(session.events("agent.started")).toMatchObject([
      {
        taskId,
        sessionId: "ses/far",
        streamPath: "/eve/test/v1/session/ses_1/subagents/c1/ses%2Ffar/stream",
        remote: { url: "http://far", resolverId: "subagents/peer.ts" },
      },
    ]);
    expect(ids(session)).toContain(`watch:${taskId}:c1`);
    expect(ids(session)).not.toContain(`send:${taskId}:c1`);
  });

  test("a remote that refuses fails the call and ends the task, with its reason", () => {
    const session = startTurn();
    session.apply(calls(remoteCall("c1")));
    session.apply(sendFailed(lastTask(session), "c1"));
    expect(session.events("task.settled")).toMatchObject([
      { status: "failed", error: { code: "REMOTE_FAILED", message: "The remote answered 400" } },
    ]);
    expect(session.state.tasks[lastTask(session)]!.status).toBe("ended");
    expect(ids(session).filter((id) => id.startsWith("send"))).toEqual([]);
  });

  test("calls that wait for the first message fail with it, and none is sent", () => {
    const session = startTurn();
    session.apply(calls(remoteCall("c1")));
    const taskId = lastTask(session);
    session.apply(calls(remoteCall("c2", taskId)));
    session.apply(sendFailed(taskId, "c1"));
    expect(session.events("task.settled").map(({ callId, status }) => [callId, status])).toEqual([
      ["c1", "failed"],
      ["c2", "failed"],
    ]);
    expect(ids(session).filter((id) => id.startsWith("send"))).toEqual([]);
    expect(session.state.tasks[taskId]).toMatchObject({ status: "ended", waiting: [] });
  });

  test("§6.3 a reply that arrived is not lost when the call that joined it fails", () => {
    const session = sent();
    const taskId = lastTask(session);
    session.apply(calls(remoteCall("c2", taskId)));
    session.apply(callback("c1", "arrived"));
    session.apply(sendFailed(taskId, "c2"));
    expect(session.events("task.settled").map(({ callId, status, output }) => [callId, status, output])).toEqual([
      ["c2", "failed", undefined],
      ["c1", "completed", "arrived"],
    ]);
    expect(session.state.tasks[taskId]!.status).toBe("idle");
  });

  test("§6.3 callbacks that come in the wrong order settle with the reply of the later turn", () => {
    const session = sent();
    const taskId = lastTask(session);
    session.apply(calls(remoteCall("c2", taskId)));
    session.apply(remoteAccepted(taskId, "c2"));
    session.apply(callback("c2", "later"));
    session.apply(callback("c1", "earlier"));
    expect(session.events("task.settled").map(({ output }) => output)).toEqual(["later", "later"]);
  });

  test("messages go one at a time: the second needs the session of the first", () => {
    const session = startTurn();
    session.apply(calls(remoteCall("c1")));
    const taskId = lastTask(session);
    session.apply(calls(remoteCall("c2", taskId)));
    expect(ids(session).filter((id) => id.startsWith("send"))).toEqual([`send:${taskId}:c1`]);
    session.apply(remoteAccepted(taskId, "c1"));
    expect(session.effects().find(({ id }) => id === `send:${taskId}:c2`)).toMatchObject({ childSessionId: "ses_far" });
  });

  test("a callback that overtakes the answer to its request says what that answer would have said", () => {
    const session = startTurn();
    session.apply(calls(remoteCall("c1")));
    const taskId = lastTask(session);
    expect(session.types(session.apply(callback("c1", "quick")))).toEqual(["agent.started", "task.settled"]);
    expect(session.state.tasks[taskId]).toMatchObject({ childSessionId: "ses_far", status: "idle", waiting: [] });
    expect(session.apply(remoteAccepted(taskId, "c1")).entries).toEqual([]);
  });

  test("a callback wins over the stream that says the same, and the other way round", () => {
    const session = sent();
    session.apply(callback("c1", "once"));
    expect(session.apply(replied(["c1"], "once")).entries).toEqual([]);
  });

  test("§6.3 joined: both calls settle with the reply of the turn that read the last", () => {
    const session = sent();
    const taskId = lastTask(session);
    session.apply(calls(remoteCall("c2", taskId)));
    session.apply(callback("c1", "first"));
    expect(session.events("task.settled")).toEqual([]);
    session.apply(remoteAccepted(taskId, "c2"));
    session.apply(callback("c2", "second"));
    expect(session.events("task.settled").map(({ callId, output }) => [callId, output])).toEqual([
      ["c1", "second"],
      ["c2", "second"],
    ]);
  });

  test("§6.3 a call that can not join does not take the calls with it that the remote works on", () => {
    const session = sent();
    const taskId = lastTask(session);
    session.apply(calls(remoteCall("c2", taskId)));
    session.apply(sendFailed(taskId, "c2"));
    expect(session.events("task.settled").map(({ callId, status }) => [callId, status])).toEqual([["c2", "failed"]]);
    session.apply(callback("c1", "still wanted"));
    expect(session.events("task.settled").at(-1)).toMatchObject({
      callId: "c1",
      status: "completed",
      output: "still wanted",
    });
  });
});

describe("§6.4 stopping remote work", () => {
  test("a cancelled turn sends a cancel", () => {
    const session = sent();
    session.apply({ kind: "cancel" });
    expect(session.state.outbox).toMatchObject([{ kind: "cancel", remoteSessionId: "ses_far" }]);
    expect(session.state.tasks[lastTask(session)]!.status).toBe("idle");
  });

  test("cancelled before the remote accepted: the cancel goes out once it has", () => {
    const session = startTurn();
    session.apply(calls(remoteCall("c1")));
    const taskId = lastTask(session);
    session.apply({ kind: "cancel" });
    expect(session.state.outbox).toEqual([]);
    expect(ids(session)).toEqual([`send:${taskId}:c1`]);
    session.apply(remoteAccepted(taskId, "c1"));
    expect(session.state.outbox).toMatchObject([{ kind: "cancel", remoteSessionId: "ses_far" }]);
    expect(ids(session)).toEqual([`outgoing:${session.state.outbox[0]!.id}`]);
    expect(session.events("agent.started")).toHaveLength(1);
  });

  test("cancelled before the remote refused: nothing is left to do", () => {
    const session = startTurn();
    session.apply(calls(remoteCall("c1")));
    session.apply({ kind: "cancel" });
    session.apply(sendFailed(lastTask(session), "c1"));
    expect(ids(session)).toEqual([]);
    expect(session.events("task.settled")).toHaveLength(1);
  });

  test("cancelled while a second message waited for the first: the second is never sent", () => {
    const session = startTurn();
    session.apply(calls(remoteCall("c1")));
    const taskId = lastTask(session);
    session.apply(calls(remoteCall("c2", taskId)));
    session.apply({ kind: "cancel" });
    session.apply(remoteAccepted(taskId, "c1"));
    expect(ids(session).filter((id) => id.startsWith("send"))).toEqual([]);
  });

  test("reset before the remote accepted: the reset goes out once it has", () => {
    const session = startTurn();
    session.apply(calls(remoteCall("c1")));
    session.apply({ kind: "reset" });
    session.apply(remoteAccepted(lastTask(session), "c1"));
    expect(session.state.outbox.map(({ kind }) => kind)).toEqual(["reset"]);
  });

  test("a cancel that is under way does not stand in for that of a message accepted later", () => {
    const session = sent();
    const taskId = lastTask(session);
    session.apply(calls(remoteCall("c2", taskId)));
    session.apply({ kind: "cancel" });
    session.apply(remoteAccepted(taskId, "c2"));
    expect(session.state.outbox.filter(({ kind }) => kind === "cancel")).toHaveLength(2);
  });

  test("a message to a task waits until its cancel is through, or the cancel would stop it too", () => {
    const session = sent();
    const taskId = lastTask(session);
    session.apply({ kind: "cancel" });
    session.apply(deliver("go on"));
    session.apply(calls(remoteCall("c2", taskId)));
    expect(ids(session).filter((id) => id.startsWith("send"))).toEqual([]);
    session.apply({ kind: "outgoing.done", id: session.state.outbox[0]!.id });
    expect(ids(session)).toContain(`send:${taskId}:c2`);
  });

  test("an idle remote child is not cancelled with a later turn", () => {
    const session = sent();
    session.apply(callback("c1", "done"));
    session.apply(says("thanks"));
    session.apply(deliver("more"));
    session.apply({ kind: "cancel" });
    expect(session.state.outbox).toEqual([]);
  });
});

test("a remote that takes a message after the session has ended is reset, and no event follows the last one", () => {
  const session = startTurn();
  session.apply(calls(remoteCall("c1")));
  session.apply({ kind: "reset" });
  const made = session.apply(remoteAccepted(lastTask(session), "c1"));
  expect(session.types(made)).toEqual([]);
  expect(session.state.outbox).toMatchObject([{ kind: "reset", remoteSessionId: "ses_far" }]);
  expect(refold(session.entries)).toEqual(session.state);
});

describe("the remote's side", () => {
  const delegated = (): TestSession =>
    openSession({
      origin: { kind: "remote" },
      first: message("work", {
        replyTo: { kind: "callback", callId: "c1", subagentName: "peer", url: "http://caller/cb", token: "t" },
      }),
    });

  test("PROTOCOL: a reply goes out as a callback", () => {
    const session = delegated();
    session.apply(says("done"));
    expect(session.state.outbox).toMatchObject([
      {
        kind: "callback",
        url: "http://caller/cb",
        body: {
          kind: "turn.completed",
          callId: "c1",
          sessionId: "ses_1",
          subagentName: "peer",
          output: "done",
          outcome: { kind: "parked", result: { kind: "succeeded", output: "done" } },
        },
      },
    ]);
  });

  test.each([
    ["cancelled", { kind: "cancel" }, "parked"],
    ["cancelled", { kind: "reset" }, "terminal"],
    ["failed", { kind: "model.failed", code: "X", message: "broke", retryable: false }, "parked"],
  ] as const)("PROTOCOL: a turn that %s goes out as turn.failed (%o)", (result, input, kind) => {
    const session = delegated();
    session.apply(input);
    expect(session.state.outbox).toMatchObject([
      { body: { kind: "turn.failed", outcome: { kind, result: { kind: result } } } },
    ]);
  });

  test("PROTOCOL: a callback counts what its own turn used, of all its steps", () => {
    const session = delegated();
    session.apply(says("done"));
    const again = {
      kind: "callback",
      callId: "c2",
      subagentName: "peer",
      url: "http://caller/cb",
      token: "t2",
    } as const;
    session.apply(deliver("more", { replyTo: again }));
    session.apply(calls(toolCall("t1")));
    session.apply(toolSettled("t1"));
    session.apply(says("more done"));
    const twice = { inputTokens: 6, outputTokens: 4, cacheReadTokens: 2, cacheWriteTokens: 0 };
    expect(session.state.outbox).toMatchObject([
      { body: { outcome: { usageDelta: USAGE } } },
      { body: { outcome: { usageDelta: twice } } },
    ]);
  });

  test("what was sent is wanted no more, and saying so twice makes nothing", () => {
    const session = delegated();
    session.apply(says("done"));
    const { id } = session.state.outbox[0]!;
    session.apply({ kind: "outgoing.done", id });
    expect(session.effects()).toEqual([]);
    expect(session.apply({ kind: "outgoing.done", id }).entries).toEqual([]);
  });
});
