import { expect } from "vitest";
import { EVENT_SCHEMAS, eventSchema, type StreamEvent } from "../../packages/runtime/src/protocol/events.ts";
import { streamProblems } from "./stream-problems.ts";

/** Parses a line as an event, and finds fields that the schema does not know. */
export function parseEvent(line: string): StreamEvent {
  const json: unknown = JSON.parse(line);
  const { type, data, meta } = eventSchema.parse(json);
  const parsed = { type, data: EVENT_SCHEMAS[type].parse(data), meta };
  expect(parsed, `fields of ${type}`).toEqual(json);
  return parsed as StreamEvent;
}

/** What must hold of every session's stream, crashed or not (PROTOCOL, Events; contract §6.10, §19). */
export function checkStream(events: readonly StreamEvent[]): void {
  expect(streamProblems(events)).toEqual([]);
}

/** The reply of the last turn. */
export function replyOf(events: readonly StreamEvent[]): string {
  const last = events.findLast((event) => event.type === "message.completed");
  return last?.type === "message.completed" ? last.data.message : "";
}
