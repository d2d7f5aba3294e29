import { history } from "./history.ts";
import { parked, resumed } from "./parked.ts";
import { boot, build, cpu, disk, rss } from "./resources.ts";
import { atLeast, atMost, NO_LIMIT, type Spec } from "./row.ts";
import { concurrent, creates, turns } from "./turns.ts";

export type RowName =
  | "create"
  | "plain"
  | "tool1"
  | "tool5"
  | "sub1"
  | "sub8"
  | "peer1"
  | "peer8"
  | "c1"
  | "c8"
  | "c32"
  | "history"
  | "boot"
  | "rss"
  | "cpu"
  | "disk"
  | "parked"
  | "resumed"
  | "build";

const TAIL = 4;
const rate = { unit: "turns/s", higherIsBetter: true } as const;

/** Everything that is measured, in the order of the table, with its bar. */
export const ROWS: Readonly<Record<RowName, Spec>> = {
  create: { unit: "ms", about: "new session with its first message, to the answer", ...NO_LIMIT, measure: creates },
  plain: { unit: "ms", about: "a turn that is one reply", ...atLeast(10), measure: turns("plain") },
  tool1: { unit: "ms", about: "a turn with one tool call", ...NO_LIMIT, measure: turns("tool1") },
  tool5: { unit: "ms", about: "a turn with five tool calls at once", ...NO_LIMIT, measure: turns("tool5") },
  sub1: { unit: "ms", about: "a turn that asks one local subagent", ...atLeast(20), measure: turns("sub1") },
  sub8: { unit: "ms", about: "a turn that asks eight at once", ...atLeast(40), measure: turns("sub8") },
  peer1: {
    unit: "ms",
    about: "a turn that asks one agent in another process",
    ...atLeast(15),
    measure: turns("peer1"),
  },
  peer8: { unit: "ms", about: "a turn that asks it eight times at once", ...NO_LIMIT, measure: turns("peer8") },
  c1: { ...rate, about: "plain turns, 1 session", ...NO_LIMIT, measure: concurrent(1) },
  c8: { ...rate, about: "plain turns, 8 sessions at once", ...NO_LIMIT, measure: concurrent(8) },
  c32: {
    ...rate,
    about: "plain turns, 32 sessions at once",
    limit: `≥ 12×, p99 ≤ ${TAIL} × p50`,
    met: ({ ratio, details }) => (ratio === null || ratio >= 12) && Number(details["ours.p99OverP50"]) <= TAIL,
    measure: concurrent(32),
  },
  history: { unit: "×", about: "turn 500 against turn 10 of one session", ...atMost(1.2, "×"), measure: history },
  boot: { unit: "ms", about: "`eve start` to health", ...atMost(600, "ms"), measure: boot },
  rss: { unit: "MB", about: "memory of an idle member", ...atMost(110, "MB"), measure: rss },
  cpu: { unit: "ms", about: "CPU of a plain turn", ...NO_LIMIT, measure: cpu },
  disk: { unit: "kB", about: "stored by a plain turn", ...NO_LIMIT, measure: disk },
  parked,
  resumed,
  build: { unit: "ms", about: "`eve build` of one member, cold", ...atLeast(4), measure: build },
};
