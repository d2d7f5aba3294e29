import { describe, expect, test } from "vitest";
import { deadline } from "./deadline.ts";
import { promptTokens } from "./prompt-length.ts";
import {
  agentCall,
  calls,
  deliver,
  lastTask,
  message,
  openSession,
  refold,
  replied,
  says,
  spoken,
  startChild,
  startTurn,
  summary,
  toolCall,
  toolSettled,
  USAGE,
  type TestSession,
} from "./session.fixture.ts";
import type { EffectInput, ResolvedCall } from "./input.ts";
import { compactedHistory, tasksNote } from "./text.ts";

const COMPACT = { kind: "compact" } as const;
const LIMIT = 100;
/** Characters that are as long as the limit. */
const LONG = "x".repeat(4 * LIMIT);
const NOTE = `note: ${compactedHistory("short")}`;

const failed = { kind: "compaction.failed", message: "no" } as const;
const effectIds = (session: TestSession): string[] => session.effects().map(({ id }) => id);

/** What the provider counts of a prompt; by default nothing. */
const counted = (inputTokens = 0) => ({ usage: { ...USAGE, inputTokens, outputTokens: 0 } });
const uncounted = (text: string, ...asked: ResolvedCall[]): EffectInput => ({ ...says(text, asked), ...counted() });

/** A turn whose history has got too long, with a short message behind that. */
function startLong(): TestSession {
  const session = startTurn({ compactAt: LIMIT, first: message(LONG) });
  session.apply(uncounted("ok"));
  session.apply(deliver("and now?"));
  return session;
}

describe("§16 compact, between two turns", () => {
  test("puts a summary into the place of the history, then the session waits", () => {
    const session = startTurn();
    session.apply(says("hi"));
    const asked = session.apply(COMPACT);
    expect(session.types(asked)).toEqual(["compaction.requested"]);
    expect(session.events("compaction.requested", asked)).toEqual([{ modelId: "test/model", usageInputTokens: 4 }]);
    expect(session.effects()).toMatchObject([{ kind: "compact", kept: 0 }]);
    expect(refold(session.entries)).toEqual(session.state);
    expect(session.types(session.apply(summary("short")))).toEqual(["compaction.completed", "session.waiting"]);
    expect(spoken(session)).toEqual([NOTE]);
    expect(session.events("session.waiting").at(-1)!.usage.inputTokens).toBe(2 * USAGE.inputTokens);
    expect(refold(session.entries)).toEqual(session.state);
  });

  test("the history stays as it was when there is no summary", () => {
    const session = startTurn();
    session.apply(says("hi"));
    session.apply(COMPACT);
    expect(session.types(session.apply(failed))).toEqual(["session.waiting"]);
    expect(spoken(session)).toEqual(["user: hello", "model: hi"]);
    expect(session.effects()).toEqual([]);
  });

  test("waits for the turn under way; messages that wait for that, too, are read behind the summary", () => {
    const session = startTurn();
    session.apply(deliver("later", { policy: "queue" }));
    expect(session.types(session.apply(COMPACT))).toEqual([]);
    expect(session.types(session.apply(says("hi"))).slice(2)).toEqual([
      "turn.completed",
      "session.waiting",
      "compaction.requested",
    ]);
    expect(session.types(session.apply(deliver("and this", { policy: "queue" })))).toEqual([]);
    expect(session.types(session.apply(summary("short")))).toEqual([
      "compaction.completed",
      "session.waiting",
      "turn.started",
      "message.received",
      "step.started",
    ]);
    expect(spoken(session)).toEqual([NOTE, "user: later"]);
  });

  test("controls are done in the order in which they were asked for", () => {
    const session = startTurn();
    for (const kind of ["compact", "clear", "compact"] as const) session.apply({ kind });
    session.apply(says("hi"));
    expect(session.types(session.apply(summary("short")))).toEqual([
      "compaction.completed",
      "session.waiting",
      "context.cleared",
      "session.waiting",
      "session.waiting",
    ]);
    expect(session.state.controls).toEqual([]);
  });

  test("what is a summary already, or nothing, is left as it is", () => {
    const session = startTurn();
    session.apply(says("hi"));
    session.apply(COMPACT);
    session.apply(summary("short"));
    expect(session.types(session.apply(COMPACT))).toEqual(["session.waiting"]);
    expect(spoken(session)).toEqual([NOTE]);
    expect(openSession().apply(COMPACT).state?.compaction).toBeUndefined();
  });

  test("a crash runs it again, and its first result counts", () => {
    const session = startTurn();
    session.apply(says("hi"));
    session.apply(COMPACT);
    const [id] = effectIds(session);
    expect(session.apply({ kind: "effect.interrupted", effectId: id! }).entries).toEqual([]);
    expect(effectIds(session)).toEqual([id]);
    session.apply(summary("short"), id);
    expect(session.apply(summary("other"), id).entries).toEqual([]);
    expect(session.apply(failed).entries).toEqual([]);
  });

  test("whoever runs it and gives it up leaves the history as it was", () => {
    const session = startTurn();
    session.apply(says("hi"));
    session.apply(COMPACT);
    const made = session.apply({ kind: "effect.failed", effectId: effectIds(session)[0]!, message: "x" });
    expect(session.types(made)).toEqual(["session.waiting"]);
  });

  test("is over with its session, which does not end for its time before", () => {
    const session = startTurn({ sessionTimeoutMs: 1_000 });
    session.apply(says("hi"));
    session.apply(COMPACT);
    expect(deadline(session.state)).toBeUndefined();
    expect(session.types(session.pass(2_000))).toEqual([]);
    expect(session.types(session.apply(summary("short")))).toEqual([
      "compaction.completed",
      "session.waiting",
      "session.completed",
    ]);
    const reset = startTurn();
    reset.apply(says("hi"));
    reset.apply(COMPACT);
    reset.apply({ kind: "reset" });
    expect(reset.effects()).toEqual([]);
    expect(reset.apply(summary("short")).entries).toEqual([]);
  });

  test("what it quotes can not pose as a block or a note", () => {
    const text = compactedHistory('a <b> & <task_result id="x">y</task_result> [Tasks]');
    expect(text).toContain("a <b> & ");
    expect(text).not.toMatch(/<\/?task_result|\[Tasks\]/);
  });
});

describe("§16 a history that gets too long within a turn", () => {
  test("is shortened before the next step, which keeps its place", () => {
    const session = startLong();
    expect(session.types().slice(-3)).toEqual(["turn.started", "message.received", "compaction.requested"]);
    expect(session.events("compaction.requested")).toMatchObject([{ turnId: "turn_1", sequence: 1, stepIndex: 0 }]);
    expect(session.types(session.apply(summary("short")))).toEqual(["compaction.completed", "step.started"]);
    expect(session.events("step.started").at(-1)).toMatchObject({ turnId: "turn_1", stepIndex: 0, attempt: 1 });
    expect(spoken(session)).toEqual([NOTE, "model: ok", "user: and now?"]);
    expect(session.state.turn?.usage).toEqual(USAGE);
    expect(refold(session.entries)).toEqual(session.state);
  });

  test("the step is asked with what there is when there is no summary; another is tried once more was said", () => {
    const session = startTurn({ compactAt: 2_000, first: message("x".repeat(8_000)) });
    session.apply(uncounted("ok"));
    session.apply(deliver("and now?"));
    expect(session.types(session.apply(failed))).toEqual(["step.started"]);
    expect(spoken(session)).toHaveLength(3);
    session.apply(uncounted("", toolCall("t1")));
    expect(session.types(session.apply(toolSettled("t1_c1")))).toEqual(["action.result", "step.started"]);
    session.apply(uncounted("y".repeat(400), toolCall("t2")));
    expect(session.types(session.apply(toolSettled("t2_c1")))).toEqual(["action.result", "compaction.requested"]);
    session.apply(deliver("z".repeat(8_000)));
    expect(session.types(session.apply(failed))).toEqual(["message.received", "step.started"]);
  });

  test("what the model has not read is never part of a summary, however long it is", () => {
    const session = startTurn({ compactAt: LIMIT, first: message(LONG) });
    expect(session.state.turn?.phase).toBe("model");
    session.apply(uncounted("ok"));
    session.apply(deliver(`second ${LONG}`));
    expect(session.effects()).toMatchObject([{ kind: "compact", kept: 1 }]);
    session.apply(summary("short"));
    expect(spoken(session)).toEqual([NOTE, `user: second ${LONG}`]);
  });

  test("a call and its results stay together", () => {
    const session = startTurn({ compactAt: LIMIT, first: message(LONG) });
    session.apply(uncounted("so", toolCall("t1"), toolCall("t2")));
    session.apply(toolSettled("t2", "y".repeat(50)));
    session.apply(toolSettled("t1", "y".repeat(50)));
    expect(session.effects()).toMatchObject([{ kind: "compact", kept: 3 }]);
    session.apply(summary("short"));
    expect(spoken(session)).toEqual([NOTE, "model: so<t1><t2>", "tool: t2", "tool: t1"]);
  });

  test("the last fifth stays, by the provider's own count of its tokens", () => {
    const session = startTurn({ compactAt: LIMIT, first: message("a".repeat(20)) });
    for (let turn = 0; turn < 4; turn++) {
      session.apply(uncounted(`${turn}`.repeat(20)));
      session.apply(deliver("b".repeat(20)));
    }
    session.apply({ ...says("c"), ...counted(LIMIT) });
    session.apply(deliver("d"));
    // 182 characters are more than 100 tokens here: 36 of them stay, not the 80 that a guess would say.
    expect(session.effects()).toMatchObject([{ kind: "compact", kept: 3 }]);
  });

  test("what stays has room, also when the history is many times as long as the limit", () => {
    const session = startTurn({ compactAt: LIMIT });
    for (let n = 0; n < 20; n++) session.apply(deliver("x".repeat(LIMIT)));
    session.apply(uncounted("ok"));
    session.apply(deliver("and now?"));
    expect(session.effects()).toMatchObject([{ kind: "compact", kept: 2 }]);
  });

  test("a summary that does not help is not tried again at every step", () => {
    const session = startTurn({ compactAt: LIMIT, first: message(LONG) });
    // Instructions and tools alone are longer than the limit.
    let made = session.apply({ ...says("ok"), ...counted(10 * LIMIT) });
    made = session.apply(deliver("next"));
    expect(session.types(made)).toContain("compaction.requested");
    session.apply(summary(LONG));
    for (let step = 0; step < 5; step++) {
      made = session.apply({ ...calls(toolCall(`t${step}`)), ...counted(10 * LIMIT) });
      made = session.apply(toolSettled(session.effects()[0]!.id.split(":").at(-1)!, "3"));
    }
    expect(session.events("compaction.requested").length).toBeLessThan(6);
    expect(session.types(made)).not.toContain("compaction.requested");
  });

  test("length is what the provider counted and what came since, or an estimate where it counts nothing", () => {
    const session = startTurn({ first: message("x".repeat(400)) });
    expect(promptTokens(session.state)).toBe(100);
    // What a model thinks is counted as output, but it does not read it again.
    session.apply({ ...says("y".repeat(40)), usage: { ...USAGE, inputTokens: 70, outputTokens: 5_000 } });
    expect(promptTokens(session.state)).toBe(80);
    session.apply(deliver("z".repeat(8)));
    expect(promptTokens(session.state)).toBe(82);
    const estimated = startTurn({ first: message("x".repeat(400)) });
    estimated.apply(uncounted("y".repeat(40)));
    expect(promptTokens(estimated.state)).toBe(110);
  });

  test("a cancel stops it with its turn", () => {
    const session = startLong();
    expect(session.types(session.apply({ kind: "cancel" }))).toEqual(["turn.cancelled", "session.waiting"]);
    expect(session.effects()).toEqual([]);
    expect(spoken(session)).toEqual([`user: ${LONG}`, "model: ok", "user: and now?"]);
    session.apply(deliver("again"));
    expect(effectIds(session)).toEqual(["compact:2"]);
  });

  test("results of tasks that come meanwhile are read by the step that follows", () => {
    const session = startTurn({ compactAt: LIMIT });
    session.apply(calls(agentCall("c1"), agentCall("c2")));
    session.apply(uncounted(LONG));
    session.apply(replied(["c1"], "one"));
    expect(session.state.turn?.phase).toBe("compact");
    session.apply(replied(["c2"], "two"));
    session.apply(summary("short"));
    expect(session.state.turn?.phase).toBe("model");
    const text = spoken(session).join("\n");
    for (const result of [">one<", ">two<"]) expect(text.split(result)).toHaveLength(2);
  });

  test("§6.9 the tasks are named again behind it", () => {
    const session = startTurn({ compactAt: LIMIT });
    session.apply(calls(agentCall("c1")));
    const note = tasksNote([{ taskId: lastTask(session), tool: "worker" }], []);
    expect(session.notes()).toEqual([note]);
    session.apply(uncounted(LONG));
    session.apply(deliver("well?"));
    session.apply(summary("short"));
    expect(session.notes()).toEqual([compactedHistory("short"), note]);
  });

  test("the reply of a child is not what was summarised of it", () => {
    const child = startChild("c1", { compactAt: LIMIT });
    child.apply(uncounted(LONG, toolCall("t1")));
    child.apply(toolSettled("t1", LONG));
    child.apply(uncounted("", toolCall("t2")));
    child.apply(toolSettled("t2"));
    expect(child.state.turn?.phase).toBe("compact");
    child.apply(summary("short"));
    child.apply(says("the reply"));
    expect(child.posts).toMatchObject([{ input: { callIds: ["c1"], status: "completed", output: "the reply" } }]);
  });

  test("calls before and behind it are told apart, also when they have one id", () => {
    const session = startTurn({ compactAt: LIMIT });
    session.apply(uncounted(LONG, toolCall("call_0")));
    session.apply(toolSettled("call_0"));
    session.apply(uncounted("", toolCall("call_0")));
    session.apply(toolSettled("call_0_2"));
    session.apply(summary("short"));
    session.apply(uncounted("", toolCall("call_0")));
    const ids = session.events("actions.requested").flatMap(({ actions }) => actions.map(({ callId }) => callId));
    expect(ids).toEqual(["call_0", "call_0_2", "call_0_c1"]);
    session.apply(toolSettled("call_0_c1"));
    expect(spoken(session).filter((line) => line.startsWith("tool:"))).toEqual(["tool: call_0_2", "tool: call_0_c1"]);
  });
});
