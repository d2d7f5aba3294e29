import { expect, test } from "vitest";
import { AgentError } from "../../errors.ts";
import { createComplaints } from "./complaints.ts";

const full = (): AgentError => new AgentError("STORE_FULL", "There is no space.");

function setUp(): {
  clock: { now: number };
  told: [unknown, string | undefined][];
  complain: ReturnType<typeof createComplaints>;
} {
  const clock = { now: 0 };
  const told: [unknown, string | undefined][] = [];
  const complain = createComplaints(
    (error, sessionId) => told.push([(error as Error).message, sessionId]),
    () => clock.now,
  );
  return { clock, told, complain };
}

test("a store that does not work is told of once a minute, whoever finds out", () => {
  const { clock, told, complain } = setUp();
  for (let second = 0; second < 121; second++) {
    clock.now = second * 1_000;
    for (const session of ["a", "b", undefined]) complain(full(), session);
  }
  expect(told).toEqual([
    ["There is no space.", "a"],
    ["There is no space.", "a"],
    ["There is no space.", "a"],
  ]);
});

test("what is wrong with one session does not hide what is wrong with another", () => {
  const { told, complain } = setUp();
  for (const session of ["a", "b", "a"]) complain(new Error("a bug"), session);
  complain(new Error("another bug"), "a");
  expect(told).toEqual([
    ["a bug", "a"],
    ["a bug", "b"],
    ["another bug", "a"],
  ]);
});

test("remembers a bounded number of complaints", () => {
  const { told, complain } = setUp();
  for (let session = 0; session < 1_001; session++) complain(new Error("a bug"), String(session));
  complain(new Error("a bug"), "0");
  complain(new Error("a bug"), "1000");
  expect(told).toHaveLength(1_002);
});
