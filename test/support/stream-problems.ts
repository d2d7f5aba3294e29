import type { EventType, StreamEvent } from "../../packages/runtime/src/protocol/events.ts";

/** Events that a call, step or turn has exactly one of, and what tells one from another. */
const ONCE: Partial<Record<EventType, (data: any) => string>> = {
  "session.started": () => "",
  "session.completed": () => "",
  "turn.started": ({ turnId }) => turnId,
  "turn.completed": ({ turnId }) => turnId,
  "turn.failed": ({ turnId }) => turnId,
  "turn.cancelled": ({ turnId }) => turnId,
  "message.completed": ({ turnId, stepIndex }) => `${turnId}/${stepIndex}`,
  "reasoning.completed": ({ turnId, stepIndex }) => `${turnId}/${stepIndex}`,
  "actions.requested": ({ turnId, stepIndex }) => `${turnId}/${stepIndex}`,
  "step.completed": ({ turnId, stepIndex }) => `${turnId}/${stepIndex}`,
  "action.result": ({ result }) => result.callId,
  "task.started": ({ callId }) => callId,
  "task.settled": ({ callId }) => callId,
  "agent.started": ({ sessionId }) => sessionId,
};

/**
 * What must not be in any session's stream, crashed or not (PROTOCOL, Events; contract §6.10, §19): one sentence for
 * each thing that is wrong.
 */
export function streamProblems(events: readonly StreamEvent[]): string[] {
  const keys = events.flatMap(({ type, data }) => (ONCE[type] === undefined ? [] : [`${type} ${ONCE[type](data)}`]));
  const received = events.flatMap(({ meta }) => meta.deliveryIds ?? []);
  return [
    ...repeated(events.map(({ meta }) => meta.id)).map((id) => `the id ${id} is there twice`),
    ...repeated(keys).map((key) => `${key.trimEnd()} is there twice`),
    ...repeated(received).map((id) => `the delivery ${id} was read twice`),
    ...stepProblems(events),
    ...taskProblems(events),
  ];
}

export function repeated(values: readonly string[]): string[] {
  const seen = new Set<string>();
  const again = new Set<string>();
  for (const value of values) (seen.has(value) ? again : seen).add(value);
  return [...again];
}

function stepProblems(events: readonly StreamEvent[]): string[] {
  const problems: string[] = [];
  const completed = new Set<string>();
  const attempts = new Map<string, number>();
  const said = new Map<string, string>();
  for (const { type, data } of events) {
    if (!("stepIndex" in data)) continue;
    const step = `${data.turnId}/${data.stepIndex}`;
    if (type === "step.started") {
      if (completed.has(step)) problems.push(`${step} starts again after it was completed`);
      const expected = (attempts.get(step) ?? 0) + 1;
      if (data.attempt !== expected) problems.push(`${step} has attempt ${data.attempt}, not ${expected}`);
      attempts.set(step, data.attempt);
      said.set(step, "");
    }
    if (type === "message.appended") said.set(step, `${said.get(step) ?? ""}${data.messageDelta}`);
    if (type === "message.completed" && said.get(step) !== data.message) {
      problems.push(`the pieces of ${step} are ${JSON.stringify(said.get(step))}, its text ${data.message}`);
    }
    if (type === "step.completed") completed.add(step);
  }
  return problems;
}

function taskProblems(events: readonly StreamEvent[]): string[] {
  const started = new Set<string>();
  return events.flatMap(({ type, data }) => {
    if (type === "task.started") started.add(`${data.taskId} ${data.callId}`);
    if (type !== "task.settled" || started.has(`${data.taskId} ${data.callId}`)) return [];
    return [`${data.taskId} settled the call ${data.callId}, which had not started`];
  });
}
