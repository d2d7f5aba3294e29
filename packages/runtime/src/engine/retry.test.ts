import { describe, expect, test } from "vitest";
import {
  ADA,
  answers,
  BOB,
  calls,
  deliver,
  message,
  modelFails,
  refold,
  says,
  spoken,
  startChild,
  startTurn,
  summary,
  toolCall,
  toolSettled,
  type TestSession,
} from "./session.fixture.ts";
import { compactedHistory } from "./text.ts";

const retry = (turnId: string, principal = ADA) => ({ kind: "retry", turnId, principal }) as const;

function startFailed(options: Parameters<typeof startTurn>[0] = {}): TestSession {
  const session = startTurn(options);
  session.apply(modelFails(false));
  return session;
}

describe("§16 retry of a failed turn", () => {
  test("is another turn, told all that the failed one was", () => {
    const session = startFailed();
    const made = session.apply(retry("turn_0"));
    expect(session.types(made)).toEqual(["turn.started", "step.started"]);
    expect(session.events("turn.started", made)).toEqual([{ turnId: "turn_1", sequence: 1, retryOf: "turn_0" }]);
    expect(spoken(session)).toEqual(["user: hello"]);
    expect(refold(session.entries)).toEqual(session.state);
    session.apply(says("hi"));
    expect(session.types().slice(-2)).toEqual(["turn.completed", "session.waiting"]);
  });

  test("keeps the steps and results that were there", () => {
    const session = startTurn();
    session.apply(calls(toolCall("t1")));
    session.apply(toolSettled("t1"));
    session.apply(modelFails(false));
    session.apply(retry("turn_0"));
    expect(spoken(session)).toEqual(["user: hello", "model: <t1>", "tool: t1"]);
    expect(session.effects()).toMatchObject([{ kind: "model" }]);
  });

  test("reads the files and the context of the failed turn again; any other turn does not", () => {
    const file = { type: "file", mediaType: "image/png", url: "https://example.com/a.png" } as const;
    const first = message("", { parts: [{ type: "text", text: "look" }, file], context: ["on page 2"] });
    const again = startFailed({ first });
    again.apply(retry("turn_0"));
    expect(again.state.history).toEqual([{ role: "user", parts: first.parts, context: ["on page 2"] }]);
    again.apply(modelFails(false));
    again.apply(deliver("never mind"));
    expect(again.state.history[0]).toEqual({
      role: "user",
      parts: [
        { type: "text", text: "look" },
        { type: "text", text: expect.stringContaining("image/png") },
      ],
    });
  });

  test("may itself be done again, once it has failed", () => {
    const session = startFailed();
    session.apply(retry("turn_0"));
    expect(session.apply(retry("turn_0")).entries).toEqual([]);
    session.apply(modelFails(false));
    expect(session.apply(retry("turn_0")).entries).toEqual([]);
    expect(session.events("turn.started", session.apply(retry("turn_1")))).toMatchObject([{ retryOf: "turn_1" }]);
    expect(spoken(session)).toEqual(["user: hello"]);
  });

  test("runs as whoever asks for it, who then steers it", () => {
    const session = startFailed();
    session.apply(retry("turn_0", BOB));
    expect(session.state.turn?.principal).toEqual(BOB);
    expect(session.types(session.apply(deliver("ada's")))).toEqual([]);
    session.apply(says("ok"));
    expect(session.state.turn?.principal).toEqual(ADA);
  });

  test("asks for structured output again", () => {
    const session = startTurn({ first: message("n?", { outputSchema: { type: "number" } }) });
    session.apply(modelFails(false));
    session.apply(retry("turn_0"));
    expect(session.state.turn?.outputSchema).toEqual({ type: "number" });
    session.apply(answers("4", { value: 4 }));
    expect(session.events("result.completed")).toMatchObject([{ turnId: "turn_1", result: 4 }]);
  });

  test("does not hold the reply that failed against the model: no prompt ends with its own words", () => {
    const session = startTurn({ first: message("n?", { outputSchema: { type: "number" } }) });
    for (const text of ["one", "two", "three"]) session.apply(answers(text, { problem: "no" }));
    expect(session.types().at(-2)).toBe("turn.failed");
    session.apply(retry("turn_0"));
    expect(spoken(session).at(-1)).toMatch(/^note: .*not what was asked for/);
    const child = startChild();
    child.apply({ ...says("half an ans"), finishReason: "length" });
    child.apply(retry("turn_0"));
    expect(spoken(child)).toEqual(["user: work"]);
  });

  test("of a turn whose history was too long is possible once that was shortened: what it was told stays", () => {
    const session = startTurn();
    session.apply(says("hi"));
    session.apply(deliver("do it", { context: ["now"] }));
    session.apply(modelFails(false));
    session.apply({ kind: "compact" });
    expect(session.effects()).toMatchObject([{ kind: "compact", kept: 1 }]);
    expect(session.types(session.apply(retry("turn_1")))).toEqual([]);
    expect(session.types(session.apply(summary("short")))).toEqual([
      "compaction.completed",
      "session.waiting",
      "turn.started",
      "step.started",
    ]);
    expect(spoken(session)).toEqual([`note: ${compactedHistory("short")}`, "user: do it"]);
    expect(session.state.history.at(-1)).toMatchObject({ context: ["now"] });
  });

  test.each<[string, (session: TestSession) => void]>([
    ["a turn that was cancelled", (session) => session.apply({ kind: "cancel" })],
    ["a turn that completed", (session) => session.apply(says("hi"))],
    ["a turn under way", () => {}],
    [
      "a turn that another followed",
      (session) => {
        session.apply(modelFails(false));
        session.apply(deliver("other"));
        session.apply(says("hi"));
      },
    ],
    [
      "a turn that was forgotten",
      (session) => {
        session.apply(modelFails(false));
        session.apply({ kind: "clear" });
      },
    ],
    [
      "a session that has ended",
      (session) => {
        session.apply(modelFails(false));
        session.apply({ kind: "reset" });
      },
    ],
  ])("of %s does nothing", (_, before) => {
    const session = startTurn();
    before(session);
    expect(session.apply(retry("turn_0")).entries).toEqual([]);
  });
});
