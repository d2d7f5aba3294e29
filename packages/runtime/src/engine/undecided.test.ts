import { describe, expect, test } from "vitest";
import { deliver, says, startTurn } from "./session.fixture.ts";

/** Clauses that the core does not keep yet: each needs a decision on its design first. */
describe("undecided", () => {
  test("a model result that comes twice counts once: results name the effect they are of", () => {
    const session = startTurn();
    session.apply(deliver("steer"));
    const result = says("one");
    session.apply(result);
    expect(session.events("step.started").map(({ stepIndex }) => stepIndex)).toEqual([0, 1]);
    expect(session.apply(result).entries).toEqual([]);
  });

  test("§16 a steering message before any output restarts the model call in the same turn", () => {
    const session = startTurn();
    const { id } = session.effects()[0]!;
    expect(session.types(session.apply(deliver("steer")))).toEqual(["message.received", "step.started"]);
    expect(session.effects().map((effect) => effect.id)).not.toContain(id);
    expect(session.events("turn.started")).toHaveLength(1);
  });
});
