import { describe, expect, test } from "vitest";
import { toModelMessages } from "../effects/to-model-messages.ts";
import {
  BEGAN,
  calls,
  deliver,
  message,
  modelFails,
  refold,
  says,
  startTurn,
  summary,
  toolCall,
  toolSettled,
  USAGE,
  type TestSession,
} from "./session.fixture.ts";

const read = ({ state }: TestSession): string => JSON.stringify(toModelMessages(state.history));
const start = (options = {}): TestSession =>
  startTurn({ first: message("pay", { context: ["on the billing page", "in a hurry"] }), ...options });

describe("the context of a message", () => {
  test("is read before the message, all through its turn", () => {
    const session = start();
    session.apply(calls(toolCall("t1")));
    session.apply(toolSettled("t1"));
    expect(toModelMessages(session.state.history).slice(0, 3)).toEqual([
      { role: "user", content: "on the billing page" },
      { role: "user", content: "in a hurry" },
      { role: "user", content: [{ type: "text", text: "pay" }] },
    ]);
    expect(session.entries.filter((entry) => entry.public).map(({ data }) => JSON.stringify(data))).not.toContainEqual(
      expect.stringContaining("billing"),
    );
  });

  test.each([
    ["completed", says("paid")],
    ["was cancelled", { kind: "cancel" } as const],
  ])("is gone once its turn %s, and nothing else is", (_, end) => {
    const session = start();
    session.apply(calls(toolCall("t1")));
    session.apply(toolSettled("t1"));
    const before = session.state.history;
    session.apply(end);
    expect(read(session)).not.toMatch(/billing|hurry/);
    expect(session.state.history.slice(1, before.length)).toEqual(before.slice(1));
    expect(session.state.history[1]).toBe(before[1]);
    expect(refold(session.entries)).toEqual(session.state);
  });

  test("of a failed turn is gone once another one begins", () => {
    const session = start();
    session.apply(modelFails(false));
    session.apply(deliver("and now?"));
    expect(read(session)).not.toMatch(/billing|hurry/);
  });

  test("of a message that steers comes with it", () => {
    const session = start();
    session.apply(BEGAN);
    session.apply(deliver("wait", { context: ["on the home page"] }));
    session.apply(says("so"));
    expect(read(session)).toContain("on the home page");
    session.apply(says("ok"));
    expect(read(session)).not.toMatch(/page/);
  });

  test("outlives a summary within its turn, and no longer", () => {
    const session = start({ compactAt: 100 });
    const usage = { ...USAGE, inputTokens: 0 };
    session.apply({ ...says("x".repeat(400), [toolCall("t1")]), usage });
    session.apply(toolSettled("t1"));
    session.apply({ ...calls(toolCall("t2")), usage });
    session.apply(toolSettled("t2"));
    expect(session.state.turn?.phase).toBe("compact");
    session.apply(summary("short"));
    expect(session.state.history).toHaveLength(3);
    expect(read(session)).toMatch(/on the billing page.*in a hurry.*short/);
    session.apply(says("paid"));
    expect(read(session)).toContain("short");
    expect(read(session)).not.toMatch(/billing|hurry/);
    expect(refold(session.entries)).toEqual(session.state);
  });
});
