import { describe, expect, test } from "vitest";
import { BEGIN, linesOf, startAgent, STEP, TURN, WAITING } from "./agent.fixture.ts";
import type { MessageResult } from "./index.ts";
import { toLines, turnLines } from "./misbehaving-server.fixture.ts";

/** The result of a message whose turn goes on with `lines`. */
async function resultOf(...lines: readonly string[]): Promise<MessageResult> {
  const { client } = await startAgent([...BEGIN, ...lines]);
  return (await client.sessions.attach("s").send("?")).result();
}

describe("the result", () => {
  const completed = (message: string, finishReason = "stop", stepIndex = 0): string[] =>
    toLines(["message.completed", { ...STEP, stepIndex, message, finishReason }]);
  const appended = (messageDelta: string): string[] => toLines(["message.appended", { ...STEP, messageDelta }]);
  const attempt = (number: number): string[] => toLines(["step.started", { ...STEP, attempt: number }]);

  test("has the last reply, not what was said before a tool or a task", async () => {
    const lines = [...completed("Let me see.", "tool-calls"), ...completed("42.", "stop", 1)];
    expect((await resultOf(...lines, ...WAITING)).message).toBe("42.");
    expect((await resultOf(...completed("Let me see.", "tool-calls"), ...WAITING)).message).toBeUndefined();
    expect((await resultOf(...completed("One."), ...completed("Two.", "stop", 1), ...WAITING)).message).toBe("Two.");
  });

  test("has what there is of a reply that was cut off, without what an earlier attempt said; events hold it all", async () => {
    const lines = [...attempt(1), ...appended("Wro"), ...appended("ng"), ...attempt(2), ...appended("Rig")];
    const cancelled = toLines(["turn.cancelled", TURN]);
    const result = await resultOf(...lines, ...cancelled, ...WAITING);
    expect(result).toMatchObject({ status: "waiting", message: "Rig", error: undefined });
    expect(linesOf(result)).toEqual([...BEGIN, ...lines, ...cancelled, ...WAITING]);
  });

  test("has no text of an attempt that came to nothing", async () => {
    const lines = [...attempt(1), ...appended("Wrong"), ...attempt(2), ...appended("Right."), ...completed("Right.")];
    expect((await resultOf(...lines, ...WAITING)).message).toBe("Right.");
  });

  test("says why a turn failed, and that its session goes on", async () => {
    const failed = toLines(["turn.failed", { ...TURN, code: "MODEL_FAILED", message: "No." }]);
    expect(await resultOf(...failed, ...WAITING)).toMatchObject({
      status: "waiting",
      error: { code: "MODEL_FAILED", message: "No." },
    });
  });

  test("says that the session is over, well or badly", async () => {
    expect(await resultOf(...toLines(["session.completed"]))).toMatchObject({ status: "completed" });
    const failed = toLines(["session.failed", { code: "INTERNAL", message: "Gone." }]);
    expect(await resultOf(...failed)).toMatchObject({ status: "failed", error: { code: "INTERNAL" } });
  });

  test("of a message that nobody read, because the session ended, has no turn", async () => {
    const end = toLines(["session.completed", { reason: "done" }]);
    const { client } = await startAgent([...turnLines(0, "other", "Before."), ...end]);
    const result = await (await client.sessions.attach("s").send("?")).result();
    expect(linesOf(result)).toEqual(end);
    expect(result).toMatchObject({ status: "completed", turnId: undefined, message: undefined });
  });

  test("has the structured output", async () => {
    const output = toLines(["result.completed", { ...STEP, result: { n: 1 } }]);
    expect((await resultOf(...output, ...WAITING)).data).toEqual({ n: 1 });
  });

  test("comes when a person is asked, with the questions that are still open", async () => {
    const ask = (...ids: string[]) => [
      "input.requested",
      { ...STEP, requests: ids.map((requestId) => ({ requestId })) },
    ];
    const lines = toLines(
      ask("a", "b") as ["input.requested", object],
      ["input.resolved", { ...STEP, resolutions: [{ requestId: "a", outcome: "answered" }] }],
      ["turn.waiting", { ...TURN, on: "input" }],
    );
    const result = await resultOf(...lines);
    expect(result).toMatchObject({ status: "waiting", inputRequests: [{ requestId: "b" }], turnId: "turn_1" });
  });

  test("does not come while tasks work, or somebody signs in", async () => {
    const signIn = { ...STEP, name: "mail", description: "" };
    const lines = toLines(
      ["turn.waiting", { ...TURN, on: "tasks" }],
      ["authorization.required", signIn],
      ["turn.waiting", { ...TURN, on: "input" }],
      ["authorization.completed", { ...signIn, outcome: "authorized" }],
      ["message.completed", { ...STEP, message: "Done.", finishReason: "stop" }],
    );
    expect(await resultOf(...lines, ...WAITING)).toMatchObject({ message: "Done.", status: "waiting" });
  });
});
