import { Client, type ClientSessions } from "eve/client";
import type { StreamEvent } from "../../packages/runtime/src/protocol/events.ts";
import { checkStream, parseEvent } from "./check-stream.ts";
import { readLines } from "./event-reader.ts";

/** No turn of a test takes longer. */
const TURN_MS = 20_000;

type Headers = Readonly<Record<string, string>>;
export type EventOf<T extends StreamEvent["type"]> = Extract<StreamEvent, { type: T }>;

/** Opens a session with a message, waits until it was answered, and returns its id. */
export async function converse(api: string, message: string, headers: Headers = {}): Promise<string> {
  const { session, response } = await connect(api, headers).create({ message, signal: soon() });
  await response.result();
  return session.state.sessionId;
}

/** Sends a message to a session and waits until the turn that it starts has ended. */
export async function say(api: string, sessionId: string, message: string, headers: Headers = {}): Promise<void> {
  const response = await connect(api, headers).attach(sessionId).send(message, { signal: soon() });
  await response.result();
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

function connect(host: string, headers: Headers): ClientSessions {
  return new Client({ host, headers }).sessions;
}

function soon(): AbortSignal {
  return AbortSignal.timeout(TURN_MS);
}
