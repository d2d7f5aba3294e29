import { parseRun } from "../../fixtures/chaos/lib/program.ts";
import { repeated } from "../../support/stream-problems.ts";
import { endsOf, ofType, timeOf, type EventOf, type StreamView, type View } from "./view.ts";

/** Every call settles once, with what its child said; no child works on when its parent does not (§6.4, §6.6, §6.10). */
export function taskProblems(view: View): string[] {
  const announced = view.streams.flatMap((stream) => ofType(stream, "agent.started").map(({ data }) => data.sessionId));
  return [
    ...repeated(announced).map((id) => `the child ${id} was announced twice`),
    ...orphans(view),
    ...strayCancels(view),
    ...view.streams.flatMap((stream) => [
      ...pairProblems(stream),
      ...ofType(stream, "task.settled").flatMap((settled) => settledProblems(settled, stream, view)),
    ]),
  ];
}

function pairProblems(stream: StreamView): string[] {
  const settled = new Set(ofType(stream, "task.settled").map(({ data }) => data.callId));
  const open = ofType(stream, "task.started").filter(({ data }) => !settled.has(data.callId));
  return open.map(({ data }) => `${stream.sessionId}: the call ${data.callId} of ${data.taskId} never settled`);
}

function settledProblems(settled: EventOf<"task.settled">, stream: StreamView, view: View): string[] {
  const { taskId, turnId, status, output, error } = settled.data;
  const what = `${stream.sessionId}: ${taskId}`;
  const end = endsOf(stream).find(({ data }) => data.turnId === turnId);
  if (status === "failed") return [`${what} failed: ${error?.message}`];
  if (status === "cancelled") {
    // Its turn was stopped: by a person here, or further up.
    return end?.type === "turn.cancelled" ? [] : [`${what} was cancelled, and its turn was not`];
  }
  if (end !== undefined && stream.events.indexOf(end) < stream.events.indexOf(settled)) {
    return [`${what} settled after its turn had ended`];
  }
  const runs = runsOf(stream, taskId);
  if (!runs.some((run) => String(output).startsWith(`${run}#`))) {
    return [`${what} has the reply ${JSON.stringify(output)}, which is to none of ${runs.join(", ")}`];
  }
  return [...childProblems(settled, stream, view)];
}

/** What a task was asked for, in order. */
function runsOf(stream: StreamView, taskId: string): string[] {
  const calls = new Set(
    ofType(stream, "task.started").flatMap(({ data }) => (data.taskId === taskId ? data.callId : [])),
  );
  return ofType(stream, "actions.requested").flatMap(({ data }) =>
    data.actions.flatMap(({ callId, input }) => {
      const run = calls.has(callId) ? parseRun((input as { message: string }).message) : undefined;
      return run === undefined ? [] : [run.id];
    }),
  );
}

/** The child had said it, and ended its turn, before. */
function childProblems(settled: EventOf<"task.settled">, stream: StreamView, { streams }: View): string[] {
  const { taskId, output } = settled.data;
  const child = streams.find(({ parent }) => parent?.sessionId === stream.sessionId && parent.taskId === taskId);
  if (child === undefined) return [`${stream.sessionId}: ${taskId} settled, and no child of it is known`];
  const said = ofType(child, "message.completed").findLast(({ data }) => data.message === output);
  if (said === undefined) return [`${child.sessionId} never said ${JSON.stringify(output)}, its reply for ${taskId}`];
  const end = endsOf(child).find(({ data }) => data.turnId === said.data.turnId);
  if (end?.type !== "turn.completed" || timeOf(end) > timeOf(settled)) {
    return [`${taskId} settled before ${said.data.turnId} of its child ${child.sessionId} was completed`];
  }
  return [];
}

/** Children whose parent's session is over, and theirs is not (§16). */
function orphans({ streams }: View): string[] {
  const ended = (stream: StreamView | undefined): boolean =>
    stream !== undefined && ofType(stream, "session.completed").length > 0;
  return streams.flatMap((stream) => {
    const { parent, sessionId } = stream;
    const above = streams.find((candidate) => candidate.sessionId === parent?.sessionId);
    return ended(above) && !ended(stream) ? [`the child ${sessionId} lives on, its parent's session is over`] : [];
  });
}

/** Turns of children that were cancelled though no turn above them was. */
function strayCancels(view: View): string[] {
  return view.streams.flatMap((stream) => {
    const { parent, sessionId } = stream;
    if (parent === undefined) return [];
    const above = view.streams.find((candidate) => candidate.sessionId === parent.sessionId);
    const cancelled = above === undefined ? [] : ofType(above, "turn.cancelled").map(timeOf);
    return ofType(stream, "turn.cancelled")
      .filter((event) => !cancelled.some((at) => at <= timeOf(event)))
      .map(({ data }) => `${data.turnId} of the child ${sessionId} was cancelled, and no turn of ${parent.sessionId}`);
  });
}
