import { endsOf, ofType, runOf, runsOf, timeOf, type StreamView, type View } from "./view.ts";

/** What was to stop before a process died is not begun again by the next one (§6.4, §19). */
export function stoppedWork(view: View): string[] {
  return view.streams.flatMap((stream) => {
    const cancelled = endsOf(stream).filter(({ type }) => type === "turn.cancelled");
    return cancelled.flatMap(({ data: { turnId } }) => turnProblems(stream, turnId, view));
  });
}

function turnProblems(stream: StreamView, turnId: string, view: View): string[] {
  const askedAt = askedToStop(stream, turnId, view);
  const died = view.deaths.find(({ member, at }) => member === stream.member && at > askedAt);
  if (died === undefined) return [];
  const runs = new Set(runsOf(stream).flatMap(({ run, turnId: readBy }) => (readBy === turnId ? [run] : [])));
  const tools = `${stream.sessionId}:${turnId}:`;
  return view.effects
    .filter(({ kind, key, at }) => {
      const isIts = kind === "model" ? runs.has(runOf(key)) : kind === "tool" && key.startsWith(tools);
      return isIts && at > died.at;
    })
    .map(({ kind, key }) => `the ${kind} call ${key} began after a crash, and was to stop before it`);
}

/** When a turn was known to have to stop: by a person's request, or with the turn of its parent here. */
function askedToStop(stream: StreamView, turnId: string, { streams, stops }: View): number {
  const { sessionId, member, parent } = stream;
  const asked = stops.find((stop) => stop.sessionId === sessionId && stop.turnId === turnId);
  if (asked?.status === "accepted") return asked.answeredAt!;
  const above = streams.find((other) => other.sessionId === parent?.sessionId && other.member === member);
  const end = endsOf(stream).find(({ data }) => data.turnId === turnId)!;
  const stopped = above === undefined ? [] : ofType(above, "turn.cancelled").map(timeOf);
  return stopped.findLast((at) => at <= timeOf(end)) ?? Infinity;
}
