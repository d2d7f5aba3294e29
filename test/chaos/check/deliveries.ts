import { parseRun } from "../../fixtures/chaos/lib/program.ts";
import type { Message } from "../history.ts";
import { endsOf, isReset, isRoot, isStopped, ofType, type StreamView, type View } from "./view.ts";

/** Every accepted message is read in one turn, and that ends; the same operation is one delivery (§16, §19). */
export function deliveryProblems(view: View): string[] {
  const sent = new Set(view.messages.flatMap(({ answers }) => answers.map(({ deliveryId }) => deliveryId)));
  return [
    ...view.messages.flatMap((message) => messageProblems(message, view)),
    ...view.streams.filter(isRoot).flatMap((stream) =>
      ofType(stream, "message.received")
        .filter(({ meta }) => !meta.deliveryIds?.some((id) => sent.has(id)))
        .map(({ data }) => `${stream.sessionId} read a message that nobody sent: ${data.message.slice(0, 80)}`),
    ),
    ...childProblems(view),
  ];
}

function messageProblems({ run, text, answers, refusal }: Message, view: View): string[] {
  const [first] = answers;
  if (first === undefined) return [`${run} was never accepted: ${refusal ?? "no answer"}`];
  const other = answers.find(
    ({ deliveryId, sessionId }) => deliveryId !== first.deliveryId || sessionId !== first.sessionId,
  );
  if (other !== undefined) return [`${run} is two deliveries: ${JSON.stringify([first, other])}`];
  const { sessionId, deliveryId } = first;
  const stream = view.streams.find((candidate) => candidate.sessionId === sessionId);
  if (stream === undefined) return [`${run} was accepted by ${sessionId}, which has no stream`];
  const [read, again] = ofType(stream, "message.received").filter(({ meta }) => meta.deliveryIds?.includes(deliveryId));
  if (read === undefined) return isReset(view.stops, sessionId) ? [] : [`${run} was accepted and never read`];
  if (again !== undefined) return [`${run} was read twice`];
  const problems = read.data.message === text ? [] : [`${run} was read as ${read.data.message.slice(0, 80)}`];
  return [...problems, ...turnProblems(run, stream, read.data.turnId, view)];
}

function turnProblems(run: string, stream: StreamView, turnId: string, { stops }: View): string[] {
  const ends = endsOf(stream).filter(({ data }) => data.turnId === turnId);
  if (ends.length !== 1) return [`${run}: its turn ${turnId} of ${stream.sessionId} ended ${ends.length} times`];
  const [end] = ends;
  if (end!.type === "turn.failed") return [`${run}: its turn failed: ${end!.data.code} ${end!.data.message}`];
  if (end!.type === "turn.completed" || isStopped(stops, stream.sessionId, turnId)) return [];
  return [`${run}: its turn ${turnId} of ${stream.sessionId} was cancelled, and nobody asked for that`];
}

/** A child reads each call once; all turns of children end, and none fails. */
function childProblems({ streams }: View): string[] {
  const children = streams.filter((stream) => !isRoot(stream));
  const readBy = new Map<string, string>();
  const twice = children.flatMap((stream) =>
    ofType(stream, "message.received").flatMap(({ data }) => {
      const run = parseRun(data.message)?.id;
      if (run === undefined) return [`${stream.sessionId} read no run: ${data.message.slice(0, 80)}`];
      const reader = readBy.get(run);
      readBy.set(run, stream.sessionId);
      return reader === undefined ? [] : [`the call ${run} was read twice: by ${reader} and ${stream.sessionId}`];
    }),
  );
  const failed = children.flatMap((stream) =>
    ofType(stream, "turn.failed").map(
      ({ data }) => `${data.turnId} of the child ${stream.sessionId} failed: ${data.code} ${data.message}`,
    ),
  );
  return [...twice, ...failed];
}
