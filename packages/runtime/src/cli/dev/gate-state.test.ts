import { describe, expect, it } from "vitest";
import { toGateState } from "./gate-state.ts";

const broken = { error: "It does not build.", diagnostics: [] };

describe("toGateState", () => {
  it.each([
    ["nothing is compiled yet", undefined, { kind: "none" }, { kind: "waiting" }],
    ["the process starts", undefined, { kind: "starting" }, { kind: "waiting" }],
    ["all is well", undefined, { kind: "listening", port: 1, folder: "/b" }, { kind: "serving", port: 1 }],
    [
      "the process can not start",
      undefined,
      { kind: "crashed", error: "No luck." },
      { kind: "broken", reason: { error: "agents/a does not start. No luck.", diagnostics: [] } },
    ],
    ["the first build fails", broken, { kind: "none" }, { kind: "broken", reason: broken }],
    [
      "a later build fails",
      broken,
      { kind: "listening", port: 1, folder: "/b" },
      { kind: "broken", reason: broken, sessions: { kind: "serving", port: 1 } },
    ],
    [
      "that process is replaced",
      broken,
      { kind: "starting" },
      { kind: "broken", reason: broken, sessions: { kind: "waiting" } },
    ],
    ["that process can not start", broken, { kind: "crashed", error: "No luck." }, { kind: "broken", reason: broken }],
  ] as const)("when %s", (_, reason, child, expected) => {
    const state = toGateState("a", reason, child);
    expect(state).toMatchObject(expected);
    expect("sessions" in state).toBe("sessions" in expected);
  });
});
