import { describe, expect, it } from "vitest";
import { toGateState } from "./gate-state.ts";

const broken = { error: "It does not build.", diagnostics: [] };

describe("toGateState", () => {
  it.each([
    ["nothing is compiled yet", undefined, { kind: "none" }, { kind: "waiting" }],
    ["the process starts", undefined, { kind: "starting" }, { kind: "waiting" }],
    ["all is well", undefined, { kind: "listening", port: 1 }, { kind: "serving", port: 1 }],
    [
      "the process can not start",
      undefined,
      { kind: "crashed", error: "No luck." },
      { kind: "broken", reason: { error: "agents/a does not start. No luck.", diagnostics: [] } },
    ],
    ["the first build fails", broken, { kind: "none" }, { kind: "broken", reason: broken }],
    ["a later build fails", broken, { kind: "listening", port: 1 }, { kind: "broken", reason: broken, port: 1 }],
    ["that process ends", broken, { kind: "starting" }, { kind: "broken", reason: broken }],
  ] as const)("when %s", (_, reason, child, expected) => {
    const state = toGateState("a", reason, child);
    expect(state).toMatchObject(expected);
    expect("port" in state).toBe("port" in expected);
  });
});
