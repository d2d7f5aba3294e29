import type { StreamEvent } from "../../packages/runtime/src/protocol/events.ts";
import { checkStream, parseEvent } from "./check-stream.ts";
import { followEvents, readLines } from "./event-reader.ts";
import { postJson } from "./post-json.ts";

type Headers = Readonly<Record<string, string>>;
export type EventOf<T extends StreamEvent["type"]> = Extract<StreamEvent, { type: T }>;

/** Opens a session with a message, waits until it was answered, and returns its id. */
export async function converse(api: string, message: string, headers: Headers = {}): Promise<string> {
  const { status, body } = await postJson(`${api}/session`, { message }, headers);
  if (status !== 202) throw new Error(`Create answered ${status}: ${JSON.stringify(body)}`);
  const sessionId = String(body.sessionId);
  await untilTurnEnds(api, sessionId, 0, headers);
  return sessionId;
}

/** Sends a message to a session and waits until the turn that it starts has ended. */
export async function say(api: string, sessionId: string, message: string, headers: Headers = {}): Promise<void> {
  const turns = ofType(await eventsOf(api, sessionId, headers), "turn.started").length;
  const { status, body } = await postJson(`${api}/session/${sessionId}`, { message }, headers);
  if (status !== 202) throw new Error(`Send answered ${status}: ${JSON.stringify(body)}`);
  await untilTurnEnds(api, sessionId, turns, headers);
}

/** All events of a session so far, each checked against its schema, together against the rules of every stream. */
export async function eventsOf(api: string, sessionId: string, headers: Headers = {}): Promise<StreamEvent[]> {
  const events = (await readLines(`${api}/session/${sessionId}/stream?follow=false`, headers)).map(parseEvent);
  checkStream(events);
  return events;
}

export function ofType<T extends StreamEvent["type"]>(events: readonly StreamEvent[], type: T): EventOf<T>[] {
  return events.filter((event): event is EventOf<T> => event.type === type);
}

/** Types in order, the pieces of text left out: how many there are depends on time. */
export function typesOf(events: readonly StreamEvent[]): string[] {
  return events.map(({ type }) => type).filter((type) => type !== "message.appended");
}

async function untilTurnEnds(api: string, sessionId: string, sequence: number, headers: Headers): Promise<void> {
  await using reader = followEvents(`${api}/session/${sessionId}/stream`, headers);
  let begun = false;
  await reader.untilEvent(`the end of turn ${sequence}`, ({ event }) => {
    if (event.type === "turn.started" && event.data.sequence === sequence) begun = true;
    return begun && event.type === "session.waiting";
  });
}
