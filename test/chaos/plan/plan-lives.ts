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
    | { readonly kind: "signal"; readonly seen: string; readonly afterMs: number };
  /** Killed then in any case. */
  readonly withinMs: number;
  /** It stays away until another member has missed it. */
  readonly isMissed: boolean;
}

const POINTS = ["commit:before", "commit:after", "effect:before", "effect:after"];

/** What the driver tells of, as the moment to kill the caller: a 202, or the type of an event. Twice is twice as likely. */
const MOMENTS = [
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

/** Calls 2 to 6 of one step: only steps with eight calls have so many. */
const EIGHT = "^worker/model \\S+\\.[2-6]#0$";

const DOOMS: Readonly<Record<MemberName, readonly string[]>> = {
  caller: [
    EIGHT,
    EIGHT,
    EIGHT,
    "^caller/model ",
    "^caller/model.done ",
    "^work/tool ",
    "^work/tool.done ",
    "^audit/tool ",
    "^helper/model.done ",
    "^member/create ",
    "^member/create.done ",
    "^member/send.done ",
    "^member/cancel ",
    "^member/cancel.done ",
  ],
  peer: [
    "^peer/model ",
    "^peer/model.done ",
    "^work/tool ",
    "^work/tool.done ",
    "^clerk/model ",
    "^member/callback ",
    "^member/callback.done ",
  ],
};

/** The lives of both members, up to the ones that last. */
export function planLives(random: Random): Readonly<Record<MemberName, readonly Life[]>> {
  const caller = random.fork("caller");
  const peer = random.fork("peer");
  return {
    caller: Array.from({ length: caller.between(5, 7) }, () => planLife("caller", caller)),
    peer: Array.from({ length: peer.between(3, 5) }, () => planLife("peer", peer)),
  };
}

function planLife(member: MemberName, random: Random): Life {
  return { end: planEnd(member, random), withinMs: random.between(200, 1_500), isMissed: random.chance(35) };
}

function planEnd(member: MemberName, random: Random): Life["end"] {
  const roll = random.between(0, 99);
  // Few points: it dies while it takes up what the last process left.
  if (roll < 10) return { kind: "fault", nth: random.between(1, random.pick([8, 400])) };
  if (roll < 35) return { kind: "fault", nth: random.between(1, 25), point: random.pick(POINTS) };
  if (roll < 65) return { kind: "doom", nth: random.between(1, 5), line: random.pick(DOOMS[member]) };
  const seen = member === "caller" ? random.pick(MOMENTS) : "any";
  return { kind: "signal", seen, afterMs: random.pick([0, 0, 1, 3, 10]) };
}
