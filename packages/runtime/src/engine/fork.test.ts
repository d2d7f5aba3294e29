import { describe, expect, test } from "vitest";
import { toModelMessages } from "../effects/to-model-messages.ts";
import type { Entry } from "./entry.ts";
import { reduce } from "./reduce.ts";
import {
  agentCall,
  calls,
  deliver,
  lastTask,
  message,
  openSession,
  refold,
  says,
  spoken,
  startTurn,
  toolCall,
  toolSettled,
  type TestSession,
} from "./session.fixture.ts";
import type { SessionState } from "./state.ts";
import { CANCELLED_CALL, tasksNote } from "./text.ts";

/** Another session that goes on behind the first event of a type. */
function forkAt({ id, entries }: TestSession, type: Entry["type"], first = message("other")): TestSession {
  const end = entries.findIndex((entry) => entry.type === type) + 1;
  const { history } = entries.slice(0, end).reduce<SessionState | undefined>(reduce, undefined)!;
  const index = entries.slice(0, end).filter((entry) => entry.public).length - 1;
  return openSession({ id: "ses_fork", fork: { sessionId: id, index, history }, first });
}

describe("a fork", () => {
  test("goes on with the other session's history, and says where it comes from", () => {
    const session = startTurn();
    session.apply(says("hi"));
    const fork = forkAt(session, "turn.completed");
    expect(spoken(fork)).toEqual(["user: hello", "model: hi", "user: other"]);
    expect(fork.events("session.started")).toMatchObject([{ predecessor: { sessionId: "ses_1", index: 6 } }]);
    expect(fork.events("turn.started")).toEqual([{ turnId: "turn_0", sequence: 0 }]);
    expect(refold(fork.entries)).toEqual(fork.state);
    fork.apply(says("ok"));
    expect(spoken(session)).toEqual(["user: hello", "model: hi"]);
  });

  test("in the middle of a step has no results of calls that were open there", () => {
    const session = startTurn();
    session.apply(calls(toolCall("t1"), toolCall("t2")));
    session.apply(toolSettled("t1", "one"));
    const fork = forkAt(session, "action.result");
    expect(fork.effects()).toMatchObject([{ kind: "model" }]);
    expect(toModelMessages(fork.state.history)[2]).toMatchObject({
      content: [{ output: { value: "one" } }, { output: { value: CANCELLED_CALL } }],
    });
    fork.apply(calls(toolCall("t2")));
    expect(fork.events("actions.requested")[0]!.actions).toMatchObject([{ callId: "t2_2" }]);
  });

  test("does not read what was said for a turn of the other session only", () => {
    const session = startTurn({ first: message("pay", { context: ["on the billing page"] }) });
    const fork = forkAt(session, "step.started");
    expect(JSON.stringify(fork.entries)).not.toContain("billing");
    expect(session.state.history).toMatchObject([{ context: ["on the billing page"] }]);
  });

  test("has none of its tasks, and says so where the history names them", () => {
    const session = startTurn();
    session.apply(calls(agentCall("c1")));
    session.apply(says("wait"));
    const fork = forkAt(session, "turn.waiting");
    expect(fork.notes().at(-1)).toBe(tasksNote([], []));
    expect(fork.events("task.settled")).toEqual([]);
    fork.apply(calls(agentCall("c2", lastTask(session))));
    expect(fork.events("action.result")).toMatchObject([{ status: "failed" }]);
    const without = startTurn();
    without.apply(says("hi"));
    expect(forkAt(without, "turn.completed").notes()).toEqual([]);
  });

  test("may be cleared and compacted before its first message", () => {
    const session = startTurn();
    session.apply(says("hi"));
    const { history } = session.state;
    const fork = openSession({ id: "ses_fork", fork: { sessionId: "ses_1", index: 3, history } });
    expect(fork.types()).toEqual([]);
    expect(fork.types(fork.apply({ kind: "compact" }))).toEqual(["session.started", "compaction.requested"]);
    fork.apply({ kind: "compaction.failed", message: "x" });
    fork.apply({ kind: "clear" });
    fork.apply(deliver("new"));
    expect(spoken(fork)).toEqual(["user: new"]);
    expect(fork.events("session.started")).toHaveLength(1);
  });
});
