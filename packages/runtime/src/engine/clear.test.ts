import { describe, expect, test } from "vitest";
import {
  agentCall,
  calls,
  deliver,
  lastTask,
  openSession,
  refold,
  replied,
  says,
  spoken,
  startTurn,
  toolCall,
  toolSettled,
} from "./session.fixture.ts";
import { tasksNote } from "./text.ts";

const CLEAR = { kind: "clear" } as const;

describe("§16 clear", () => {
  test("leaves all that was said behind, and the session waits", () => {
    const session = startTurn();
    session.apply(says("hi"));
    expect(session.types(session.apply(CLEAR))).toEqual(["context.cleared", "session.waiting"]);
    expect(session.state.history).toEqual([]);
    expect(refold(session.entries)).toEqual(session.state);
    session.apply(deliver("again"));
    expect(spoken(session)).toEqual(["user: again"]);
    expect(session.events("turn.started").map(({ sequence }) => sequence)).toEqual([0, 1]);
  });

  test("waits for the turn under way, and comes before messages that wait for it, too", () => {
    const session = startTurn();
    session.apply(deliver("later", { policy: "queue" }));
    expect(session.types(session.apply(CLEAR))).toEqual([]);
    expect(session.types(session.apply(says("hi"))).slice(2)).toEqual([
      "turn.completed",
      "session.waiting",
      "context.cleared",
      "session.waiting",
      "turn.started",
      "message.received",
      "step.started",
    ]);
    expect(spoken(session)).toEqual(["user: later"]);
  });

  test("waits for the tasks of a turn with it", () => {
    const session = startTurn();
    session.apply(calls(agentCall("c1")));
    session.apply(says("wait"));
    session.apply(CLEAR);
    expect(session.events("context.cleared")).toEqual([]);
    session.apply(replied(["c1"], "done"));
    session.apply(says("bye"));
    expect(session.events("context.cleared")).toHaveLength(1);
    expect(session.state.history).toEqual([]);
  });

  test("keeps idle tasks, which the next turn is told of and can continue", () => {
    const session = startTurn();
    session.apply(calls(agentCall("c1")));
    session.apply(replied(["c1"], "done"));
    session.apply(says("bye"));
    session.apply(says("bye"));
    const taskId = lastTask(session);
    session.apply(CLEAR);
    session.apply(deliver("go on"));
    expect(session.notes()).toEqual([tasksNote([], [{ taskId, tool: "worker" }])]);
    session.apply(calls(agentCall("c1", taskId)));
    expect(session.events("task.started").at(-1)).toMatchObject({ taskId });
    expect(session.state.tasks[taskId]?.status).toBe("working");
  });

  test("calls of a provider that numbers them anew stay told apart", () => {
    const session = startTurn();
    for (const text of ["more", "and more"]) {
      session.apply(calls(toolCall("call_0")));
      const [effect] = session.effects();
      session.apply(toolSettled(effect?.kind === "tool" ? effect.call.callId : ""));
      session.apply(says("ok"));
      session.apply(CLEAR);
      session.apply(deliver(text));
    }
    const ids = session.events("actions.requested").flatMap(({ actions }) => actions.map(({ callId }) => callId));
    expect(new Set(ids).size).toBe(2);
  });

  test("of a session that has said nothing yet: it is announced first", () => {
    const session = openSession();
    expect(session.types(session.apply(CLEAR))).toEqual(["session.started", "context.cleared", "session.waiting"]);
    session.apply(deliver("hi"));
    expect(session.events("session.started")).toHaveLength(1);
  });

  test("of a session that has ended does nothing", () => {
    const session = startTurn();
    session.apply(CLEAR);
    session.apply({ kind: "reset" });
    expect(session.state.controls).toEqual([]);
    expect(session.apply(CLEAR).entries).toEqual([]);
  });
});
