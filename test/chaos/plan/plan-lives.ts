import type { MemberName } from "../history.ts";
import type { Random } from "../random.ts";

/** How one process of a member ends, and how long the member is away then. */
export interface Life {
  readonly end:
    /** At the n-th fault point around a commit or an effect, or at the n-th of one kind. */
    | { readonly kind: "fault"; readonly nth: number; readonly point?: string }
    /** At the n-th line of its record of effects that matches. */
    | { readonly kind: "doom"; readonly nth: number; readonly line: string }
    /** `kill -9` from outside, a moment after something was seen. */
    | { readonly kind: "signal"; readonly seen: string; readonly afterMs: number }
    /** Whatever it does then. */
    | { readonly kind: "time" };
  /** Killed then in any case, counted from its first answer. */
  readonly withinMs: number;
  /** It stays away until another member has missed it. */
  readonly isMissed: boolean;
}

const POINTS = ["commit:before", "commit:after", "effect:before", "effect:after"];

/**
 * What the driver tells of, as the moment to kill the caller: a request, a 202, or the type of an event. What is there
 * twice is twice as likely.
 */
const MOMENTS = [
  "sent",
  "sent",
  "sent",
  "accepted",
  "accepted",
  "accepted",
  "accepted",
  "cancelled",
  "cancelled",
  "cancelled",
  "message.received",
  "step.started",
  "message.appended",
  "actions.requested",
  "agent.started",
  "turn.waiting",
  "task.settled",
  "turn.completed",
];

/** Lines of the record, and the last of their kind that is worth waiting for. */
type Doom = readonly [line: string, upTo: number];

/** Calls 2 to 6 of one step: only steps with eight calls have so many. */
const EIGHT: Doom = ["^worker/model \\S+\\.[2-6]#0$", 5];

const DOOMS: Readonly<Record<MemberName, readonly Doom[]>> = {
  caller: [
    EIGHT,
    EIGHT,
    EIGHT,
    ["^caller/model ", 8],
    ["^caller/model.done ", 8],
    ["^work/tool ", 6],
    ["^work/tool.done ", 6],
    ["^audit/tool ", 1],
    ["^helper/model.done ", 1],
    ["^member/create ", 3],
    ["^member/create.done ", 3],
    ["^member/send.done ", 1],
    ["^member/cancel ", 1],
    ["^member/cancel ", 1],
    ["^member/cancel.done ", 1],
  ],
  peer: [
    ["^peer/model ", 4],
    ["^peer/model.done ", 4],
    ["^work/tool ", 2],
    ["^work/tool.done ", 2],
    ["^clerk/model ", 1],
    ["^member/callback ", 3],
    ["^member/callback.done ", 3],
  ],
};

/** What a process is to die of may not come; then it is killed after this time. */
const LONG_ENOUGH_MS = 2_500;

/** The lives of both members, up to the ones that last. */
export function planLives(random: Random): Readonly<Record<MemberName, readonly Life[]>> {
  const caller = random.fork("caller");
  const peer = random.fork("peer");
  return {
    caller: Array.from({ length: caller.between(4, 6) }, () => planLife("caller", caller)),
    peer: Array.from({ length: peer.between(3, 4) }, () => planLife("peer", peer)),
  };
}

function planLife(member: MemberName, random: Random): Life {
  const isMissed = random.chance(35);
  const roll = random.between(0, 99);
  const withinMs = LONG_ENOUGH_MS;
  // After few points it dies while it takes up what the last process left.
  if (roll < 10) return { end: { kind: "fault", nth: random.between(1, random.pick([8, 300])) }, withinMs, isMissed };
  if (roll < 38) {
    return { end: { kind: "fault", nth: random.between(1, 25), point: random.pick(POINTS) }, withinMs, isMissed };
  }
  if (roll < 70) {
    const [line, upTo] = random.pick(DOOMS[member]);
    return { end: { kind: "doom", nth: random.between(1, upTo), line }, withinMs, isMissed };
  }
  if (roll < 93 && member === "caller") {
    const end = { kind: "signal", seen: random.pick(MOMENTS), afterMs: random.pick([0, 0, 1, 2, 3, 10]) } as const;
    return { end, withinMs, isMissed };
  }
  return { end: { kind: "time" }, withinMs: random.between(100, 1_200), isMissed };
}
