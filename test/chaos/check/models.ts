import { parseRun } from "../../fixtures/chaos/lib/program.ts";
import { ofType, runOf, runsOf, sameProcess, timeOf, type StreamView, type View } from "./view.ts";

/** A step that is on a stream was asked for, before, and is not asked for again; a result is read once (§6.7, §19). */
export function modelProblems(view: View): string[] {
  return [...stepProblems(view), ...readProblems(view)];
}

function stepProblems({ effects, streams }: View): string[] {
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

/** A task's result reaches the model of its turn, and only once (§6.7). */
function readProblems({ effects, streams }: View): string[] {
  const calls = effects.filter(({ kind }) => kind === "model");
  const twice = calls.flatMap(({ key, read = [] }) =>
    new Set(read).size === read.length ? [] : [`the model read a reply twice before ${key}: ${read.join(", ")}`],
  );
  const seen = new Set(calls.flatMap(({ key, read = [] }) => read.map((reply) => `${runOf(key)} ${reply}`)));
  const unread = streams.flatMap((stream) => {
    const completed = new Set(ofType(stream, "turn.completed").map(({ data }) => data.turnId));
    const readers = runsOf(stream);
    return ofType(stream, "task.settled").flatMap(({ data }) => {
      if (data.status !== "completed" || !completed.has(data.turnId)) return [];
      const reply = String(data.output).split(" ", 1)[0]!;
      if (readers.some(({ run }) => seen.has(`${run} ${reply}`))) return [];
      return [`${stream.sessionId}: no model read the reply ${reply} of ${data.taskId}`];
    });
  });
  return [...twice, ...unread];
}
