import { describe, expect, test } from "vitest";
import {
  agentCall,
  calls,
  deliver,
  modelFails,
  refold,
  says,
  startChild,
  startTurn,
  toolCall,
  toolSettled,
} from "./session.fixture.ts";
import { abandonedTool, EMPTY_REPLY_NOTE, interruptedTool } from "./text.ts";

const interrupt = (effectId: string) => ({ kind: "effect.interrupted", effectId }) as const;

describe("§19 provider failures", () => {
  test("a transient failure repeats the step with the next attempt", () => {
    const session = startTurn();
    expect(session.types(session.apply(modelFails(true)))).toEqual(["step.failed", "step.started"]);
    expect(session.events("step.started").map(({ stepIndex, attempt }) => [stepIndex, attempt])).toEqual([
      [0, 1],
      [0, 2],
    ]);
  });

  test("the third failure is the last: three provider calls in all, one failed turn", () => {
    const session = startTurn();
    session.apply(modelFails(true));
    session.apply(modelFails(true));
    expect(session.types(session.apply(modelFails(true)))).toEqual(["step.failed", "turn.failed", "session.waiting"]);
    expect(session.events("step.started")).toHaveLength(3);
    expect(session.events("turn.failed")).toHaveLength(1);
  });

  test("a terminal failure fails at once", () => {
    const session = startTurn();
    expect(session.types(session.apply(modelFails(false)))).toEqual(["step.failed", "turn.failed", "session.waiting"]);
  });

  test("the wait that a provider asks for is the next call's, also after a restart, and no later one's", () => {
    const session = startTurn();
    session.apply({ ...modelFails(true), retryAfterMs: 7_000 } as never);
    expect(session.effects()).toMatchObject([{ kind: "model", failures: 1, retryAfterMs: 7_000 }]);
    expect(refold(session.entries)).toEqual(session.state);
    session.apply(modelFails(true));
    expect(session.effects()).toEqual([{ id: "model:turn_0:0:3", kind: "model", failures: 2 }]);
  });

  test("what a failed call cost is shown and counted; a sum of prices has no noise", () => {
    const session = startTurn();
    const usage = { inputTokens: 5, outputTokens: 1, cacheReadTokens: 4, cacheWriteTokens: 0, costUsd: 0.1 };
    session.apply({ ...modelFails(true), usage, details: { statusCode: 529 } } as never);
    session.apply({ ...says("ok"), usage: { ...usage, costUsd: 0.2 } } as never);
    expect(session.events("step.failed")).toMatchObject([{ usage, details: { statusCode: 529 } }]);
    expect(session.events("session.waiting")[0]!.usage).toEqual({
      inputTokens: 10,
      outputTokens: 2,
      cacheReadTokens: 8,
      cacheWriteTokens: 0,
      costUsd: 0.3,
    });
  });

  test("a completed step has its own three calls", () => {
    const session = startTurn();
    session.apply(modelFails(true));
    session.apply(modelFails(true));
    session.apply(calls(toolCall("t1")));
    session.apply(toolSettled("t1"));
    session.apply(modelFails(true));
    expect(session.state.turn?.phase).toBe("model");
  });

  test("a file that the model never answered to does not fail the next turn, too; one that it read stays", () => {
    const file = { type: "file", mediaType: "image/png", url: "https://example.com/a.png" } as const;
    const session = startTurn();
    session.apply(says("ready"));
    session.apply(deliver("", { parts: [file] }));
    session.apply(says("seen"));
    session.apply(
      deliver("", {
        parts: [
          { type: "text", text: "and this?" },
          { ...file, filename: "b.png" },
        ],
      }),
    );
    session.apply(modelFails(false));
    session.apply(deliver("again"));
    const read = session.state.history.flatMap((item) => (item.role === "user" ? item.parts : []));
    expect(read.slice(1)).toEqual([
      file,
      { type: "text", text: "and this?" },
      { type: "text", text: expect.stringContaining("b.png") },
      { type: "text", text: "again" },
    ]);
  });

  test("the reason reaches the parent", () => {
    const child = startChild();
    child.apply(modelFails(false));
    expect(child.posts[0]).toMatchObject({
      sessionId: "ses_parent",
      input: { callIds: ["c1"], status: "failed", error: { code: "MODEL_FAILED", message: "overloaded" } },
    });
  });
});

describe("§19 replies that were cut off at the model's output limit", () => {
  const cutOff = { ...says("half an ans"), finishReason: "length" } as const;

  test("fail a child's turn: its caller gets no half answer as a whole one", () => {
    const child = startChild();
    expect(child.types(child.apply(cutOff))).toEqual([
      "message.completed",
      "step.completed",
      "turn.failed",
      "session.waiting",
    ]);
    expect(child.posts).toMatchObject([{ input: { status: "failed", error: { code: "MODEL_FAILED" } } }]);
  });

  test("are shown to a person with their finish reason", () => {
    const session = startTurn();
    expect(session.types(session.apply(cutOff))).toContain("turn.completed");
    expect(session.events("message.completed")).toMatchObject([{ message: "half an ans", finishReason: "length" }]);
  });
});

describe("§19 empty replies of a child", () => {
  test("are asked for once more, then fail", () => {
    const child = startChild();
    expect(child.types(child.apply(says("  ")))).toEqual(["message.completed", "step.completed", "step.started"]);
    expect(child.notes()).toEqual([EMPTY_REPLY_NOTE]);
    expect(child.types(child.apply(says("")))).toEqual(["step.completed", "turn.failed", "session.waiting"]);
    expect(child.posts).toMatchObject([{ input: { status: "failed", error: { code: "EMPTY_REPLY" } } }]);
  });

  test("an answer to the second request is the reply", () => {
    const child = startChild();
    child.apply(says(""));
    child.apply(says("here"));
    expect(child.posts).toMatchObject([{ input: { status: "completed", output: "here" } }]);
  });

  test("an empty text with calls is no empty reply", () => {
    const child = startChild();
    child.apply(calls(toolCall("t1")));
    child.apply(toolSettled("t1"));
    expect(child.notes()).toEqual([]);
  });

  test("the request does not give the provider three more calls", () => {
    const child = startChild();
    child.apply(modelFails(true));
    child.apply(modelFails(true));
    child.apply(says(""));
    expect(child.types(child.apply(modelFails(true)))).toContain("turn.failed");
    expect(child.posts).toHaveLength(1);
  });

  test("a new turn may be asked once more again", () => {
    const child = startChild();
    child.apply(says(""));
    child.apply(says("here"));
    child.apply({
      kind: "deliver",
      delivery: { deliveryId: "d2", parts: [], principal: child.state.initiator, policy: "steer" },
    });
    child.apply(says(""));
    expect(child.state.turn?.phase).toBe("model");
  });
});

describe("§19 effects that a crash interrupted", () => {
  test("a model call is announced as the next attempt of the same step", () => {
    const session = startTurn();
    const { id } = session.effects()[0]!;
    const made = session.apply(interrupt(id));
    expect(session.events("step.started", made)).toMatchObject([{ stepIndex: 0, attempt: 2 }]);
    expect(session.effects()[0]!.id).not.toBe(id);
    expect(session.apply(interrupt(id)).entries).toEqual([]);
  });

  test("an interruption is no failure of the provider", () => {
    const session = startTurn();
    for (const _ of [1, 2, 3, 4]) session.apply(interrupt(session.effects()[0]!.id));
    session.apply(modelFails(true));
    expect(session.state.turn?.phase).toBe("model");
  });

  test("§21 a tool runs again", () => {
    const session = startTurn();
    session.apply(calls(toolCall("t1")));
    const { id } = session.effects()[0]!;
    expect(session.types(session.apply(interrupt(id)))).toEqual([]);
    expect(session.effects()[0]!.id).toBe(id);
  });

  test("§21 a tool that was stopped three times is not run again, across any number of restarts", () => {
    const session = startTurn();
    session.apply(calls(toolCall("t1"), toolCall("t2")));
    for (const runs of [1, 2]) {
      session.apply(interrupt("tool:turn_0:t1"));
      expect(refold(session.entries)).toEqual(session.state);
      expect(session.state.turn?.pending.t1?.interruptions).toBe(runs);
    }
    session.apply(interrupt("tool:turn_0:t1"));
    expect(session.events("action.result")).toMatchObject([
      { status: "failed", result: { callId: "t1", output: abandonedTool("add", 3) } },
    ]);
    expect(session.effects().map(({ id }) => id)).toEqual(["tool:turn_0:t2"]);
  });

  test('§21 a tool with onInterrupt "fail" reports that nobody knows', () => {
    const session = startTurn();
    session.apply(calls(toolCall("t1", "fail"), toolCall("t2")));
    session.apply(interrupt("tool:turn_0:t1"));
    expect(session.events("action.result")).toMatchObject([
      { status: "failed", result: { callId: "t1", output: interruptedTool("add") } },
    ]);
    expect(session.effects().map(({ id }) => id)).toEqual(["tool:turn_0:t2"]);
  });

  test("§21 the last interrupted tool takes the turn on", () => {
    const session = startTurn();
    session.apply(calls(toolCall("t1", "fail")));
    expect(session.types(session.apply(interrupt("tool:turn_0:t1")))).toEqual(["action.result", "step.started"]);
  });

  test("a task at work is not touched", () => {
    const session = startTurn();
    session.apply(calls(agentCall("c1")));
    session.apply(says("wait"));
    expect(session.effects()).toEqual([]);
  });
});
