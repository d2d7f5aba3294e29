import { parseRun, rootRun } from "../../fixtures/chaos/lib/program.ts";
import type { Effect } from "../history.ts";
import { endsOf, isReset, ofType, timeOf, type StreamView, type View } from "./view.ts";

/** A result that is on a stream was computed, before, and is not computed again (§19, §21). */
export function effectProblems(view: View): string[] {
  return [...toolProblems(view), ...modelProblems(view), ...readProblems(view), ...hiddenWork(view)];
}

function toolProblems({ effects, streams }: View): string[] {
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
      if (data.status === "failed" && !String(output).startsWith("TOOL_INTERRUPTED")) {
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
    return end !== undefined && at > timeOf(end) ? [`the tool call ${what} ran after its turn had ended`] : [];
  });
}

/** Steps that the model was asked for again after they were completed. */
function modelProblems({ effects, streams }: View): string[] {
  const completed = new Map<string, number>();
  for (const stream of streams) {
    for (const [step, at] of completedSteps(stream)) completed.set(step, at);
  }
  const runs = Map.groupBy(
    effects.filter(({ kind }) => kind === "model"),
    ({ key }) => key,
  );
  const computed = [...completed.keys()].filter((step) => !runs.has(step));
  return [
    ...computed.map((step) => `the step ${step} is on a stream, and no model was asked for it`),
    ...[...runs].flatMap(([step, all]) => [
      ...all
        .filter(({ at }) => at > (completed.get(step) ?? Infinity))
        .map(() => `the model was asked for ${step} again after it was completed`),
      ...sameProcess(all, `the step ${step}`),
    ]),
  ];
}

/** Steps that were completed, by the id that the model gave them, and when. */
function completedSteps(stream: StreamView): Map<string, number> {
  const ids = new Map<string, string>();
  const completed = new Map<string, number>();
  for (const event of stream.events) {
    if (!("stepIndex" in event.data)) continue;
    const place = `${event.data.turnId}/${event.data.stepIndex}`;
    if (event.type === "message.completed") ids.set(place, event.data.message.split(" ", 1)[0]!);
    if (event.type === "actions.requested") {
      const { id, message } = event.data.actions[0]!.input as { id?: string; message?: string };
      const call = id ?? parseRun(message ?? "")?.id ?? "";
      ids.set(place, call.slice(0, call.lastIndexOf(".")));
    }
    const step = ids.get(place);
    if (event.type === "step.completed" && step !== undefined) completed.set(step, timeOf(event));
  }
  return completed;
}

/** Only the end of a process is a reason to begin again. */
function sameProcess(runs: readonly Effect[], what: string): string[] {
  const pids = runs.map(({ pid }) => pid);
  return new Set(pids).size === pids.length ? [] : [`${what} ran ${pids.length} times, twice in one process`];
}

/** A task's result reaches the model of its turn, and only once (§6.7). */
function readProblems({ effects, streams }: View): string[] {
  const calls = effects.filter(({ kind }) => kind === "model");
  const twice = calls.flatMap(({ key, read = [] }) =>
    new Set(read).size === read.length ? [] : [`the model read a reply twice before ${key}: ${read.join(", ")}`],
  );
  const seen = new Set(calls.flatMap(({ key, read = [] }) => read.map((reply) => `${runOf(key)} ${reply}`)));
  const unread = streams.flatMap((stream) => {
    const completed = new Set(ofType(stream, "turn.completed").map(({ data }) => data.turnId));
    const readers = ofType(stream, "message.received").flatMap(({ data }) => parseRun(data.message)?.id ?? []);
    return ofType(stream, "task.settled").flatMap(({ data }) => {
      if (data.status !== "completed" || !completed.has(data.turnId)) return [];
      const reply = String(data.output).split(" ", 1)[0]!;
      if (readers.some((run) => seen.has(`${run} ${reply}`))) return [];
      return [`${stream.sessionId}: no model read the reply ${reply} of ${data.taskId}`];
    });
  });
  return [...twice, ...unread];
}

/** The run of a step: `m3#1.0` of `m3#1.0#2`. */
function runOf(step: string): string {
  return step.slice(0, step.lastIndexOf("#"));
}

/** Nobody works in a session that no stream names, unless its caller was reset; then it is, too (§10.2, §16). */
function hiddenWork({ effects, streams, messages, stops }: View): string[] {
  const known = new Set(
    streams
      .filter(({ isHidden }) => isHidden !== true)
      .flatMap((stream) => ofType(stream, "message.received").flatMap(({ data }) => parseRun(data.message)?.id ?? [])),
  );
  const reset = new Set(
    messages.flatMap(({ run, answers }) => (answers[0] && isReset(stops, answers[0].sessionId) ? [run] : [])),
  );
  const hidden = effects.filter(
    ({ kind, key }) => kind === "model" && !known.has(runOf(key)) && !reset.has(rootRun(key)),
  );
  const alive = streams.filter((stream) => stream.isHidden && ofType(stream, "session.completed").length === 0);
  return [
    ...hidden.map(({ key, node }) => `${node} worked on ${key}, and no stream says so`),
    ...alive.map(({ sessionId }) => `${sessionId} was never announced, and lives on`),
  ];
}
