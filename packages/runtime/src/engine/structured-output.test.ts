import { describe, expect, test } from "vitest";
import {
  agentCall,
  answers,
  BEGAN,
  calls,
  deliver,
  message,
  refold,
  replied,
  says,
  spoken,
  startTurn,
  startChild,
  toolCall,
  toolSettled,
  type TestSession,
} from "./session.fixture.ts";
import { EMPTY_REPLY_NOTE, refusedOutput } from "./text.ts";

const SCHEMA = { type: "object", required: ["n"] } as const;
const good = answers('{"n":1}', { value: { n: 1 } });
const bad = answers("one", { problem: "it is no JSON" });

const ask = (): TestSession => startTurn({ first: message("n?", { outputSchema: SCHEMA }) });
const askChild = (): TestSession =>
  startChild("c1", {
    first: message("n?", { outputSchema: SCHEMA, replyTo: { kind: "local", callId: "c1" } }),
  });

describe("PROTOCOL structured output", () => {
  test("comes as result.completed before the step completes", () => {
    const session = ask();
    const made = session.apply(good);
    expect(session.types(made)).toEqual([
      "message.completed",
      "result.completed",
      "step.completed",
      "turn.completed",
      "session.waiting",
    ]);
    expect(session.events("result.completed", made)).toEqual([
      { turnId: "turn_0", sequence: 0, stepIndex: 0, result: { n: 1 } },
    ]);
  });

  test("binds its turn only", () => {
    const session = ask();
    session.apply(good);
    session.apply(deliver("and?"));
    expect(session.state.turn?.outputSchema).toBeUndefined();
    session.apply(says("text"));
    expect(session.events("result.completed")).toHaveLength(1);
  });

  test("of a reply that does not fit is asked for again, with what is wrong", () => {
    const session = ask();
    expect(session.types(session.apply(bad))).toEqual(["message.completed", "step.completed", "step.started"]);
    expect(session.notes()).toEqual([refusedOutput("it is no JSON")]);
    session.apply(bad);
    expect(refold(session.entries)).toEqual(session.state);
    session.apply(good);
    expect(session.events("result.completed")).toMatchObject([{ stepIndex: 2, result: { n: 1 } }]);
    expect(session.types().slice(-2)).toEqual(["turn.completed", "session.waiting"]);
  });

  test("fails the turn at the third reply that does not fit", () => {
    const session = ask();
    for (const reply of [bad, bad]) session.apply(reply);
    expect(session.types(session.apply(bad)).slice(-2)).toEqual(["turn.failed", "session.waiting"]);
    expect(session.events("turn.failed")).toMatchObject([{ code: "OUTPUT_INVALID" }]);
    expect(session.events("result.completed")).toEqual([]);
  });

  test("is no matter while tools or tasks work, a message or a result waits", () => {
    const session = ask();
    session.apply(calls(toolCall("t1"), agentCall("c1")));
    session.apply(toolSettled("t1"));
    expect(session.types(session.apply(bad)).at(-1)).toBe("turn.waiting");
    session.apply(replied(["c1"], "one"));
    session.apply(BEGAN);
    session.apply(deliver("quick"));
    expect(session.types(session.apply(good)).slice(-2)).toEqual(["message.received", "step.started"]);
    expect(session.events("result.completed")).toEqual([]);
    expect(session.notes().filter((note) => note.includes("was asked for"))).toEqual([]);
    session.apply(good);
    expect(session.events("result.completed")).toHaveLength(1);
  });

  test("may be asked for by a message that steers; the last schema counts", () => {
    const session = startTurn();
    session.apply(deliver("as JSON", { outputSchema: { type: "array" } }));
    session.apply(deliver("no, an object", { outputSchema: SCHEMA }));
    session.apply(deliver("please"));
    expect(session.state.turn?.outputSchema).toEqual(SCHEMA);
  });

  test("null is a value", () => {
    const child = askChild();
    child.apply(answers("null", { value: null }));
    expect(child.posts).toMatchObject([{ input: { status: "completed", output: null } }]);
  });

  test.each([
    ["a person", ask],
    ["another agent", askChild],
  ])("for %s is never half of one: a reply that was cut off fails the turn", (_, start) => {
    const session = start();
    const made = session.apply({ ...answers("12", { value: 12 }), finishReason: "length" });
    expect(session.types(made)).toEqual(["message.completed", "step.completed", "turn.failed", "session.waiting"]);
    expect(session.events("turn.failed")).toMatchObject([{ code: "MODEL_FAILED" }]);
  });
});

describe("PROTOCOL structured output of a delegated turn", () => {
  test("is what the parent gets", () => {
    const child = askChild();
    child.apply(bad);
    child.apply(good);
    expect(child.posts).toMatchObject([
      { sessionId: "ses_parent", input: { callIds: ["c1"], status: "completed", output: { n: 1 } } },
    ]);
    const parent = startTurn();
    parent.apply(calls(agentCall("c1")));
    parent.apply({ kind: "child.settled", callIds: ["c1"], status: "completed", output: { n: 1 } });
    parent.apply(says("wait"));
    expect(parent.events("task.settled")).toMatchObject([{ output: { n: 1 } }]);
    expect(spoken(parent).join()).toContain('>{"n":1}<');
  });

  test("only the reply that fits has the finish reason of a last word", () => {
    const child = askChild();
    child.apply(bad);
    child.apply(good);
    expect(child.events("message.completed").map(({ finishReason }) => finishReason)).toEqual(["tool-calls", "stop"]);
  });

  test("an empty reply is an empty one first: asked for once more, then it fails", () => {
    const child = askChild();
    const empty = answers("", { problem: "it is no JSON" });
    child.apply(empty);
    expect(child.notes()).toEqual([EMPTY_REPLY_NOTE]);
    child.apply(empty);
    expect(child.posts).toMatchObject([{ input: { status: "failed", error: { code: "EMPTY_REPLY" } } }]);
  });

  test("a failure reaches the parent with its code", () => {
    const child = askChild();
    for (const reply of [bad, bad, bad]) child.apply(reply);
    expect(child.posts).toMatchObject([{ input: { status: "failed", error: { code: "OUTPUT_INVALID" } } }]);
  });

  test("a person's empty reply does not fit", () => {
    const session = ask();
    session.apply(answers("", { problem: "it is no JSON" }));
    expect(session.notes()).toEqual([refusedOutput("it is no JSON")]);
  });
});
