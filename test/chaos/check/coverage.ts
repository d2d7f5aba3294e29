import { parseRun } from "../../fixtures/chaos/lib/program.ts";
import { endsOf, ofType, timeOf, toView, type View } from "./view.ts";
import type { Death, History } from "../history.ts";
import { openEffects } from "../drive/effect-record.ts";

/** What a run must be able to come to; a figure that stays 0 says that the test does not test it. */
export const SITUATIONS = [
  "killed in a model call",
  "killed in a tool",
  "killed within 5 ms after a request was sent",
  "killed within 5 ms after a 202",
  "killed between the 202 and the turn of a message",
  "killed while eight children started",
  "killed while a turn waited for tasks",
  "killed during a cancel",
  "killed while it recovered",
  "killed before a commit",
  "killed after a commit",
  "killed before an effect",
  "killed after an effect",
  "both members away",
  "callback while the caller was away",
  "message while the peer was away",
  "cancel or reset while the peer was away",
  "request repeated",
  "reader reconnected",
  "message steered into a turn",
  "call joined a working task",
  "call continued an idle task",
  "call repeated by the next process",
] as const;

export type Reached = Readonly<Record<(typeof SITUATIONS)[number], number>>;

/** How often a run came to each situation. */
export function reachedBy(history: History, reconnects: number): Reached {
  const view = toView(history);
  const { deaths, messages, effects, stops } = history;
  const count = (what: (death: Death) => boolean): number => deaths.filter(what).length;
  const during = (victim: Death["member"], kinds: readonly string[]): number =>
    count(
      ({ member, at, backAt = Infinity }) =>
        member === victim &&
        effects.some((one) => one.member !== victim && kinds.includes(one.kind) && one.at >= at && one.at <= backAt),
    );
  const answered = messages.flatMap(({ answers }) => answers.map(({ at }) => at));
  return {
    "killed in a model call": count(({ pid }) => isOpen(history, pid, "model")),
    "killed in a tool": count(({ pid }) => isOpen(history, pid, "tool")),
    "killed within 5 ms after a request was sent": count(({ cause }) =>
      /^signal: sent(, [0-5] ms later)?$/.test(cause),
    ),
    "killed within 5 ms after a 202": count(
      ({ member, at }) => member === "caller" && answered.some((time) => time <= at && at - time <= 5),
    ),
    "killed between the 202 and the turn of a message": count(
      ({ member, at }) => member === "caller" && waitedAt(view, at),
    ),
    "killed while eight children started": count(({ member, at }) => member === "caller" && startedEight(view, at)),
    "killed while a turn waited for tasks": count(({ at, member }) => member === "caller" && heldAt(view, at)),
    "killed during a cancel": count(
      ({ member, at }) =>
        member === "caller" &&
        stops.some(({ sessionId, turnId, askedAt }) => {
          const stream = view.streams.find((one) => one.sessionId === sessionId);
          const end = stream && endsOf(stream).find(({ data }) => data.turnId === turnId);
          return askedAt <= at && end !== undefined && timeOf(end) >= at;
        }),
    ),
    "killed while it recovered": count(({ upAt, at }) => upAt === undefined || at - upAt < 30),
    "killed before a commit": count(({ cause }) => cause.endsWith("commit:before")),
    "killed after a commit": count(({ cause }) => cause.endsWith("commit:after")),
    "killed before an effect": count(({ cause }) => cause.endsWith("effect:before")),
    "killed after an effect": count(({ cause }) => cause.endsWith("effect:after")),
    "both members away": count(({ member, at }) =>
      deaths.some((other) => other.member !== member && other.at <= at && at <= (other.backAt ?? Infinity)),
    ),
    "callback while the caller was away": during("caller", ["callback"]),
    "message while the peer was away": during("peer", ["create", "send"]),
    "cancel or reset while the peer was away": during("peer", ["cancel", "reset"]),
    "request repeated": messages.filter(({ attempts }) => attempts > 1).length,
    "reader reconnected": reconnects,
    ...conversations(view),
  };
}

function isOpen({ effects }: History, pid: number, kind: string): boolean {
  return openEffects(effects, pid).some((effect) => effect.startsWith(`${kind} `));
}

function waitedAt({ messages, streams }: View, at: number): boolean {
  return messages.some(({ answers: [first] }) => {
    if (first === undefined || first.at > at) return false;
    const stream = streams.find(({ sessionId }) => sessionId === first.sessionId);
    const read =
      stream && ofType(stream, "message.received").find(({ meta }) => meta.deliveryIds?.includes(first.deliveryId));
    return read !== undefined && timeOf(read) > at;
  });
}

/** Of eight calls in one step, some children had been asked for their first step, and some had not. */
function startedEight({ streams, effects }: View, at: number): boolean {
  return streams.some((stream) =>
    ofType(stream, "actions.requested").some((requested) => {
      const runs = requested.data.actions.flatMap(
        ({ input }) => parseRun((input as { message?: string }).message ?? "")?.id ?? [],
      );
      if (runs.length < 8 || timeOf(requested) > at) return false;
      const begun = runs.filter((run) =>
        effects.some(({ kind, key, at: time }) => kind === "model" && key === `${run}#0` && time <= at),
      );
      return (
        begun.length < runs.length &&
        runs.some((run) => effects.some(({ key, at: time }) => key === `${run}#0` && time > at))
      );
    }),
  );
}

function heldAt({ streams }: View, at: number): boolean {
  return streams.some((stream) => {
    const last = stream.events.findLast((event) => timeOf(event) <= at);
    return last?.type === "turn.waiting";
  });
}

function conversations({
  streams,
  effects,
}: View): Pick<
  Reached,
  | "message steered into a turn"
  | "call joined a working task"
  | "call continued an idle task"
  | "call repeated by the next process"
> {
  let steered = 0;
  let joined = 0;
  let continued = 0;
  for (const stream of streams) {
    const turns = ofType(stream, "message.received").map(({ data }) => data.turnId);
    steered += turns.length - new Set(turns).size;
    const working = new Map<string, number>();
    for (const { type, data } of stream.events) {
      if (type === "task.started") {
        const open = working.get(data.taskId);
        if (open === 0) continued++;
        else if (open !== undefined) joined++;
        working.set(data.taskId, (open ?? 0) + 1);
      }
      if (type === "task.settled") working.set(data.taskId, working.get(data.taskId)! - 1);
    }
  }
  const runs = Map.groupBy(
    effects.filter(({ kind }) => kind === "tool" || kind === "model"),
    ({ kind, key }) => `${kind} ${key}`,
  );
  return {
    "message steered into a turn": steered,
    "call joined a working task": joined,
    "call continued an idle task": continued,
    "call repeated by the next process": [...runs.values()].filter(({ length }) => length > 1).length,
  };
}
