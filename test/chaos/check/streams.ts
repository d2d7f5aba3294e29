import { EVENT_SCHEMAS, eventSchema } from "../../../packages/runtime/src/protocol/events.ts";
import { streamProblems } from "../../support/stream-problems.ts";
import { isAtRest } from "../drive/family.ts";
import { endsOf, ofType, type StreamView, type View } from "./view.ts";

/** What was read before is read again, byte for byte, at the same place; and every stream obeys the protocol (§19). */
export function streamViewProblems({ streams }: View): string[] {
  return streams.flatMap((stream) =>
    [...readProblems(stream), ...schemaProblems(stream), ...streamProblems(stream.events), ...restProblems(stream)].map(
      (problem) => `${stream.sessionId}: ${problem}`,
    ),
  );
}

function readProblems({ lines, reads }: StreamView): string[] {
  return reads.flatMap(({ what, from, lines: read }) => {
    const at = read.findIndex((line, index) => line !== lines[from + index]);
    if (at < 0) return [];
    return [`event ${from + at}, ${what}, was ${read[at]}, and is ${lines[from + at] ?? "gone"}`];
  });
}

function schemaProblems({ events }: StreamView): string[] {
  return events.flatMap((event, index) => {
    const parsed = eventSchema.safeParse(event);
    if (!parsed.success) return [`event ${index} is no event: ${parsed.error.message}`];
    const data = EVENT_SCHEMAS[parsed.data.type].safeParse(event.data);
    return data.success ? [] : [`event ${index}, ${event.type}: ${data.error.message}`];
  });
}

/** One turn at a time; at the end none is under way, and no step. */
function restProblems(stream: StreamView): string[] {
  const problems: string[] = [];
  let open: string | undefined;
  for (const { type, data } of stream.events) {
    if (type === "turn.started") {
      if (open !== undefined) problems.push(`${data.turnId} started while ${open} was under way`);
      open = data.turnId;
    }
    if (type === "turn.completed" || type === "turn.failed" || type === "turn.cancelled") {
      if (open !== data.turnId) problems.push(`${data.turnId} ended while ${open ?? "no turn"} was under way`);
      open = undefined;
    }
  }
  if (open !== undefined) problems.push(`${open} is still under way`);
  if (!isAtRest(stream.lines)) problems.push(`its last event is ${stream.events.at(-1)?.type}`);
  const completed = new Set(
    endsOf(stream).flatMap(({ type, data }) => (type === "turn.completed" ? [data.turnId] : [])),
  );
  const steps = new Set(ofType(stream, "step.completed").map(({ data }) => `${data.turnId}/${data.stepIndex}`));
  const lost = ofType(stream, "step.started").filter(
    ({ data }) => completed.has(data.turnId) && !steps.has(`${data.turnId}/${data.stepIndex}`),
  );
  return [...problems, ...lost.map(({ data }) => `${data.turnId} was completed without step ${data.stepIndex}`)];
}
