import { describe, expect, test } from "vitest";
import { advance } from "./advance.ts";
import type { Input, ResolvedCall } from "./input.ts";
import {
  agentCall,
  calls,
  deliver,
  lastTask,
  modelFails,
  openSession,
  remoteAccepted,
  remoteCall,
  replied,
  says,
  startTurn,
  toolCall,
  toolSettled,
  type TestSession,
} from "./session.fixture.ts";

const early = (callId: string): Input =>
  ({ ...replied([callId], "x"), remote: { sessionId: "ses_far", url: "http://far" } }) as Input;

function withRemote(): TestSession {
  const session = startTurn();
  session.apply(calls(remoteCall("c1")));
  return session;
}

function joinedRemote(): TestSession {
  const session = withRemote();
  session.apply(remoteAccepted(lastTask(session), "c1"));
  session.apply(calls(remoteCall("c2", lastTask(session))));
  return session;
}

/** Each makes something the first time. */
const CASES: readonly (readonly [string, () => TestSession, (session: TestSession) => Input])[] = [
  ["cancel of a turn", () => startTurn(), () => ({ kind: "cancel", turnId: "turn_0" })],
  ["reset", () => startTurn(), () => ({ kind: "reset" })],
  ["child.settled", () => playing(agentCall("c1")), () => replied(["c1"], "x")],
  ["child.settled of a call that another joined", () => joinedLocal(), () => replied(["c1"], "x")],
  [
    "child.settled, failed",
    () => playing(agentCall("c1")),
    () => ({ kind: "child.settled", callIds: ["c1"], status: "failed" }),
  ],
  [
    "child.settled, cancelled",
    () => playing(agentCall("c1")),
    () => ({ kind: "child.settled", callIds: ["c1"], status: "cancelled" }),
  ],
  ["an early callback", withRemote, () => early("c1")],
  ["tool.settled", () => playing(toolCall("t1"), toolCall("t2")), () => toolSettled("t1")],
  ["remote.accepted", withRemote, (session) => remoteAccepted(lastTask(session), "c1")],
  ["remote.accepted of a call that waits on", joinedRemote, (session) => remoteAccepted(lastTask(session), "c2")],
  [
    "remote.failed",
    withRemote,
    (session) => ({
      kind: "remote.failed",
      taskId: lastTask(session),
      callId: "c1",
      code: "REMOTE_FAILED",
      message: "no",
    }),
  ],
  [
    "remote.failed of a call that joined",
    joinedRemote,
    (session) => ({
      kind: "remote.failed",
      taskId: lastTask(session),
      callId: "c2",
      code: "REMOTE_FAILED",
      message: "no",
    }),
  ],
  ["outgoing.done", withOutgoing, (session) => ({ kind: "outgoing.done", id: session.state.outbox[0]!.id })],
  [
    "effect.interrupted of a model call",
    () => startTurn(),
    () => ({ kind: "effect.interrupted", effectId: "model:turn_0:0:1" }),
  ],
  [
    "effect.interrupted of a tool",
    () => playing(toolCall("t1", "fail")),
    () => ({ kind: "effect.interrupted", effectId: "tool:turn_0:t1" }),
  ],
];

describe("an input that came before makes nothing", () => {
  test.each(CASES)("%s", (_, make, input) => {
    const session = make();
    const given = input(session);
    expect(session.apply(given).entries).not.toEqual([]);
    const before = session.state;
    const again = session.apply(given);
    expect(again.entries).toEqual([]);
    expect(again.posts).toEqual([]);
    expect(session.state).toBe(before);
  });

  test("open", () => {
    const session = openSession();
    const open = {
      kind: "open",
      nodeId: "root",
      agentName: "x",
      origin: { kind: "root" },
      initiator: session.state.initiator,
    } as const;
    expect(session.apply(open).entries).toEqual([]);
  });
});

describe("an input for what is not there makes nothing", () => {
  const inputs: Input[] = [
    replied(["nobody"], "x"),
    early("nobody"),
    toolSettled("nobody"),
    remoteAccepted("nothing-000000", "nobody"),
    { kind: "remote.failed", taskId: "nothing-000000", callId: "nobody", code: "X", message: "x" },
    { kind: "outgoing.done", id: "nothing" },
    { kind: "effect.interrupted", effectId: "nothing" },
    { kind: "cancel", turnId: "turn_9" },
  ];
  test.each(inputs)("%o", (input) => {
    for (const session of [startTurn(), playing(agentCall("c1")), openSession()])
      expect(session.apply(input).entries).toEqual([]);
  });

  test.each<Input>([deliver("x"), { kind: "cancel" }, says("x"), toolSettled("t"), replied(["c"], "x")])(
    "%o before the session was opened",
    (input) => {
      const around = {
        sessionId: "s",
        modelId: "",
        eveVersion: "",
        now: 0,
        base: "",
        newSessionId: () => "",
        random: () => "",
      };
      expect(advance(undefined, input, around)).toEqual({ entries: [], posts: [], state: undefined });
    },
  );

  test.each<Input>([says("late"), modelFails(true)])("%o while no model call is due", (input) => {
    for (const session of [openSession(), playing(toolCall("t1"))]) expect(session.apply(input).entries).toEqual([]);
  });
});

test("advance changes nothing of the state it is given", () => {
  const session = startTurn();
  const freeze = (value: unknown): void => {
    if (typeof value !== "object" || value === null || Object.isFrozen(value)) return;
    Object.freeze(value);
    Object.values(value).forEach(freeze);
  };
  for (const input of [
    calls(agentCall("c1"), toolCall("t1")),
    toolSettled("t1"),
    replied(["c1"], "x"),
    says("ok"),
    says("done"),
    { kind: "reset" } as const,
  ]) {
    freeze(session.state);
    session.apply(input);
  }
  expect(session.state.ended).toBe(true);
});

function playing(...resolved: readonly ResolvedCall[]): TestSession {
  const session = startTurn();
  session.apply(calls(...resolved));
  return session;
}

function joinedLocal(): TestSession {
  const session = playing(agentCall("c1"));
  session.apply(calls(agentCall("c2", lastTask(session))));
  return session;
}

function withOutgoing(): TestSession {
  const session = joinedRemote();
  session.apply({ kind: "cancel" });
  return session;
}

test("a result counts for the effect it is of, not for the one that took its place", () => {
  const session = startTurn();
  session.apply({ kind: "model.began" });
  session.apply(deliver("steer"));
  const { id } = session.effects()[0]!;
  session.apply(says("one"), id);
  expect(session.events("step.started").map(({ stepIndex }) => stepIndex)).toEqual([0, 1]);
  expect(session.apply(says("one"), id).entries).toEqual([]);
  expect(session.apply(modelFails(true), id).entries).toEqual([]);
});
