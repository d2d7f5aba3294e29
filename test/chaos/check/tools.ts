import type { Effect } from "../history.ts";
import { endsOf, ofType, sameProcess, timeOf, type StreamView, type View } from "./view.ts";

/** Answers of the runtime in the place of a result: a crash, or another message, stopped the call. */
const STOPPED = /^TOOL_(INTERRUPTED|STOPPED)/;
/** An effect is begun with the commit before, and stopped with the one after: one can overtake the other a little. */
const OVERLAP_MS = 5;

/** A result that is on a stream was computed, before, and is not computed again (§19, §21). */
export function toolProblems({ effects, streams }: View): string[] {
  const done = new Set(effects.flatMap(({ kind, key }) => (kind === "tool.done" ? [key] : [])));
  const runs = Map.groupBy(
    effects.filter(({ kind }) => kind === "tool"),
    ({ key }) => key,
  );
  const problems: string[] = [];
  for (const [key, all] of runs) {
    const [sessionId, turnId, callId] = key.split(":") as [string, string, string];
    const stream = streams.find((candidate) => candidate.sessionId === sessionId);
    if (stream === undefined) problems.push(`the tool call ${key} ran in a session that nobody knows`);
    else problems.push(...lateRuns(stream, turnId, callId, all));
    problems.push(...sameProcess(all, `the tool call ${key}`));
    if (all[0]!.node === "audit" && all.length > 1) problems.push(`${key} ran ${all.length} times, and must not twice`);
  }
  for (const stream of streams) {
    for (const { data } of ofType(stream, "action.result")) {
      const { callId, toolName, output } = data.result;
      const key = `${stream.sessionId}:${data.turnId}:${callId}`;
      const isTool = toolName === "work" || toolName === "audit";
      if (data.status === "failed" && !STOPPED.test(String(output))) {
        problems.push(`${key} failed: ${String(output)}`);
      }
      if (isTool && data.status === "completed" && !done.has(key)) problems.push(`${key} has a result, and never ran`);
    }
  }
  return problems;
}

/** Runs of a tool before it was asked for, after its result, or after the end of its turn. */
function lateRuns(stream: StreamView, turnId: string, callId: string, runs: readonly Effect[]): string[] {
  const requested = ofType(stream, "actions.requested").find(({ data }) =>
    data.actions.some((action) => action.callId === callId),
  );
  const result = ofType(stream, "action.result").find(({ data }) => data.result.callId === callId);
  const end = endsOf(stream).find(({ data }) => data.turnId === turnId);
  const what = `${callId} of ${stream.sessionId}`;
  return runs.flatMap(({ at }) => {
    if (requested === undefined || at < timeOf(requested)) return [`the tool call ${what} ran before it was asked for`];
    if (result !== undefined && at > timeOf(result)) return [`the tool call ${what} ran again after its result`];
    return end !== undefined && at > timeOf(end) + OVERLAP_MS
      ? [`the tool call ${what} ran after its turn had ended`]
      : [];
  });
}
