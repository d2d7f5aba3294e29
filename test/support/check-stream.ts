import { expect } from "vitest";
import {
  EVENT_SCHEMAS,
  eventSchema,
  type EventType,
  type StreamEvent,
} from "../../packages/runtime/src/protocol/events.ts";

/** Parses a line as an event, and finds fields that the schema does not know. */
export function parseEvent(line: string): StreamEvent {
  const json: unknown = JSON.parse(line);
  const { type, data, meta } = eventSchema.parse(json);
  const parsed = { type, data: EVENT_SCHEMAS[type].parse(data), meta };
  expect(parsed, `fields of ${type}`).toEqual(json);
  return parsed as StreamEvent;
}

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

/** What must hold of every session's stream, crashed or not (PROTOCOL, Events; contract §6.10, §19). */
export function checkStream(events: readonly StreamEvent[]): void {
  expect(repeated(events.map(({ meta }) => meta.id)), "ids that are there twice").toEqual([]);
  const keys = events.flatMap(({ type, data }) => (ONCE[type] === undefined ? [] : [`${type} ${ONCE[type](data)}`]));
  expect(repeated(keys), "events that are there twice").toEqual([]);
  const received = events.flatMap(({ meta }) => meta.deliveryIds ?? []);
  expect(repeated(received), "deliveries that were read twice").toEqual([]);

  const completed = new Set<string>();
  const attempts = new Map<string, number>();
  const said = new Map<string, string>();
  for (const { type, data } of events) {
    if (!("stepIndex" in data)) continue;
    const step = `${data.turnId}/${data.stepIndex}`;
    if (type === "step.started") {
      expect(completed, `${step} starts again after it was completed`).not.toContain(step);
      expect(data.attempt, `attempt of ${step}`).toBe((attempts.get(step) ?? 0) + 1);
      attempts.set(step, data.attempt);
      said.set(step, "");
    }
    if (type === "message.appended") said.set(step, said.get(step)! + data.messageDelta);
    if (type === "message.completed") expect(said.get(step), `deltas of ${step}`).toBe(data.message);
    if (type === "step.completed") completed.add(step);
  }
  for (const settled of events) {
    if (settled.type !== "task.settled") continue;
    const { callId, taskId } = settled.data;
    const started = events.findIndex(
      ({ type, data }) => type === "task.started" && data.callId === callId && data.taskId === taskId,
    );
    expect(started, `task.started of ${taskId}`).toBeGreaterThanOrEqual(0);
    expect(started).toBeLessThan(events.indexOf(settled));
  }
}

export function repeated(values: readonly string[]): string[] {
  return [...new Set(values.filter((value, index) => values.indexOf(value) !== index))];
}

/** The reply of the last turn. */
export function replyOf(events: readonly StreamEvent[]): string {
  const last = events.findLast((event) => event.type === "message.completed");
  return last?.type === "message.completed" ? last.data.message : "";
}
