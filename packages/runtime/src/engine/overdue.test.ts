import { describe, expect, test } from "vitest";
import type { EffectInput } from "./input.ts";
import {
  agentCall,
  calls,
  lastTask,
  refold,
  remoteAccepted,
  remoteCall,
  replied,
  says,
  startTurn,
  type TestSession,
} from "./session.fixture.ts";

const LIMITS = { timeoutMs: 5_000, silenceMs: 700 };

function limited(): TestSession {
  return startTurn({ taskLimits: LIMITS });
}

type Code = "TASK_TIMEOUT" | "TASK_SILENT";

function overdue(session: TestSession, callId: string, code: Code = "TASK_TIMEOUT"): EffectInput {
  return { kind: "call.overdue", taskId: lastTask(session), callId, code };
}

const limits = (session: TestSession) => session.effects().filter((effect) => effect.kind === "limit");
const settled = (session: TestSession) =>
  session.events("task.settled").map(({ callId, status, output, error }) => [callId, status, output ?? error?.code]);

describe("§6.11 the limits of a call", () => {
  test("are those of the caller at the time of the call", () => {
    const session = limited();
    session.pass(100);
    session.apply(calls(agentCall("c1")));
    expect(limits(session)).toMatchObject([
      { callId: "c1", childSessionId: "ses_1.1", limits: { deadline: 5_100, silenceMs: 700 } },
    ]);
    expect(refold(session.entries)).toEqual(session.state);
  });

  test("are none unless the agent sets them", () => {
    const session = startTurn();
    session.apply(calls(agentCall("c1")));
    expect(limits(session)).toEqual([]);
  });

  test("each call of a task has its own, until it is settled", () => {
    const session = limited();
    session.apply(calls(agentCall("c1")));
    session.pass(1_000);
    session.apply(calls(agentCall("c2", lastTask(session))));
    expect(limits(session).map(({ callId, limits: { deadline } }) => [callId, deadline])).toEqual([
      ["c1", 5_000],
      ["c2", 6_000],
    ]);
    session.apply(replied(["c1", "c2"], "both"));
    expect(limits(session)).toEqual([]);
  });

  test("hold for a call no more once the child has answered it", () => {
    const session = limited();
    session.apply(calls(agentCall("c1")));
    session.apply(calls(agentCall("c2", lastTask(session))));
    session.apply(replied(["c1"], "first"));
    expect(limits(session).map(({ callId }) => callId)).toEqual(["c2"]);
  });

  test("a remote's session can be heard once it is known: another effect, which knows it", () => {
    const session = limited();
    session.apply(calls(remoteCall("c1")));
    const [before] = limits(session);
    session.apply(remoteAccepted(lastTask(session), "c1"));
    const [after] = limits(session);
    expect(after!.id).not.toBe(before!.id);
    expect([before!.childSessionId, after!.childSessionId]).toEqual([undefined, "ses_far"]);
  });
});

describe("§6.11 a call that had its time", () => {
  test.each(["TASK_TIMEOUT", "TASK_SILENT"] as const)("fails with %s, and its child's turn is cancelled", (code) => {
    const session = limited();
    session.apply(calls(agentCall("c1")));
    session.apply(says("wait"));
    const made = session.apply(overdue(session, "c1", code));
    expect(session.types(made)).toEqual(["task.settled", "step.started"]);
    expect(settled(session)).toEqual([["c1", "failed", code]]);
    expect(made.posts.map(({ sessionId, input }) => [sessionId, input.kind])).toEqual([["ses_1.1", "cancel"]]);
    expect(session.notes().join()).toContain(`${code}: task ${lastTask(session)}`);
    expect(refold(session.entries)).toEqual(session.state);
  });

  test("leaves its task idle, and that can be continued", () => {
    const session = limited();
    session.apply(calls(agentCall("c1")));
    const taskId = lastTask(session);
    session.apply(overdue(session, "c1"));
    expect(session.state.tasks[taskId]!.status).toBe("idle");
    session.apply(calls(agentCall("c2", taskId)));
    expect(session.posts.at(-1)).toMatchObject({ sessionId: "ses_1.1", input: { kind: "deliver" } });
    session.apply({ kind: "child.settled", callIds: ["c1"], status: "cancelled" });
    session.apply(replied(["c2"], "in time"));
    expect(settled(session)).toEqual([
      ["c1", "failed", "TASK_TIMEOUT"],
      ["c2", "completed", "in time"],
    ]);
  });

  test("a child that only says that it had its time has failed, and its task ended", () => {
    const session = limited();
    session.apply(calls(remoteCall("c1")));
    session.apply(remoteAccepted(lastTask(session), "c1"));
    const error = { code: "TASK_TIMEOUT", message: "x" };
    session.apply({ kind: "child.settled", callIds: ["c1"], status: "failed", error });
    expect(session.state.tasks[lastTask(session)]!.status).toBe("ended");
  });

  test("takes the calls that joined it along", () => {
    const session = limited();
    session.apply(calls(agentCall("c1")));
    session.apply(calls(agentCall("c2", lastTask(session))));
    session.apply(overdue(session, "c1"));
    expect(settled(session)).toEqual([
      ["c1", "failed", "TASK_TIMEOUT"],
      ["c2", "failed", "TASK_TIMEOUT"],
    ]);
    session.apply(says("wait"));
    expect(session.notes().join().split("<task_result").length - 1).toBe(1);
  });

  test("loses no reply that had come: a call answered before completes with it", () => {
    const session = limited();
    session.apply(calls(agentCall("c1")));
    session.apply(calls(agentCall("c2", lastTask(session))));
    session.apply(says("wait"));
    session.apply(replied(["c1"], "first"));
    session.apply(overdue(session, "c2"));
    expect(settled(session)).toEqual([
      ["c1", "completed", "first"],
      ["c2", "failed", "TASK_TIMEOUT"],
    ]);
    expect(session.state.tasks[lastTask(session)]!.status).toBe("idle");
    const [shown] = session.notes().filter((note) => note.includes("<task_result"));
    expect([shown!.includes("first"), shown!.includes("TASK_TIMEOUT")]).toEqual([true, true]);
  });

  test("loses no result of other tasks", () => {
    const session = limited();
    session.apply(calls(agentCall("c1"), agentCall("c2")));
    session.apply(replied(["c1"], "the answer"));
    session.apply(overdue(session, "c2"));
    session.apply(says("wait"));
    const [shown] = session.notes().filter((note) => note.includes("<task_result"));
    expect([shown!.includes("the answer"), shown!.includes("TASK_TIMEOUT")]).toEqual([true, true]);
  });

  test.each(["settled", "answered"] as const)("says nothing of a call that was %s meanwhile", (how) => {
    const session = limited();
    session.apply(calls(agentCall("c1")));
    if (how === "answered") session.apply(calls(agentCall("c2", lastTask(session))));
    session.apply(replied(["c1"], "in time"));
    expect(session.apply(overdue(session, "c1")).entries).toEqual([]);
  });

  test("at a remote: its turn is cancelled there", () => {
    const session = limited();
    session.apply(calls(remoteCall("c1")));
    session.apply(remoteAccepted(lastTask(session), "c1"));
    session.apply(overdue(session, "c1"));
    expect(session.state.outbox).toMatchObject([{ kind: "cancel", remoteSessionId: "ses_far" }]);
  });

  test("at a remote that has not accepted it: stopped once it has", () => {
    const session = limited();
    session.apply(calls(remoteCall("c1")));
    session.apply(overdue(session, "c1"));
    expect(session.state.outbox).toEqual([]);
    session.apply(remoteAccepted(lastTask(session), "c1"));
    expect(session.state.outbox).toMatchObject([{ kind: "cancel", remoteSessionId: "ses_far" }]);
    expect(session.state.tasks[lastTask(session)]!.status).toBe("idle");
  });

  test("at a remote, while a message that joined it is on its way: that is stopped once it has arrived", () => {
    const session = limited();
    session.apply(calls(remoteCall("c1")));
    const taskId = lastTask(session);
    session.apply(remoteAccepted(taskId, "c1"));
    session.apply(calls(remoteCall("c2", taskId)));
    session.apply(overdue(session, "c1"));
    const [cancel] = session.state.outbox;
    session.apply({ kind: "outgoing.done", id: cancel!.id });
    session.apply(remoteAccepted(taskId, "c2"));
    expect(session.state.outbox).toMatchObject([{ kind: "cancel", remoteSessionId: "ses_far" }]);
    expect(session.state.tasks[taskId]!.waiting).toEqual([]);
  });

  test("whose watch was given up has no limit, rather than one that nobody set", () => {
    const session = limited();
    session.apply(calls(agentCall("c1")));
    const [limit] = limits(session);
    expect(session.apply({ kind: "effect.failed", effectId: limit!.id, message: "x" }, limit!.id).entries).toEqual([]);
  });
});
