import { toSegment, type Query } from "./address.ts";
import { createAgentSession, type ClientAgentSession } from "./agent-session.ts";
import { createCursor } from "./cursor.ts";
import { isOfDelivery, turnIdOf, type EventOf, type InputResponse, type MessageStreamEvent } from "./events.ts";
import { createMessageResponse, type CancelResult, type MessageResponse } from "./message-response.ts";
import { readEvents, readLast } from "./read-events.ts";
import type { EventSource } from "./stream-connection.ts";
import { submit, type ClientContext } from "./submit.ts";
import {
  toBody,
  type AnswerOptions,
  type RequestOptions,
  type SendOptions,
  type StreamOptions,
  type UserContent,
} from "./turn-options.ts";

/** What can be kept of a session to go on with it later. */
export interface ClientSessionState {
  readonly sessionId: string;
  /** Index of the first event that this handle has not read. */
  readonly streamIndex: number;
}

export interface SessionSnapshot {
  readonly events: readonly MessageStreamEvent[];
  /** The cursor right behind them. */
  readonly session: ClientSessionState;
}

export type ControlResult =
  | { readonly status: "accepted"; readonly sessionId: string }
  | { readonly status: "no_active_session" };

export type ResetResult =
  | { readonly status: "reset"; readonly previousSessionId: string }
  | { readonly status: "no_active_session" };

/** One session of an agent, by its id. Every method throws {@link ClientError}. */
export interface ClientSession {
  /** Keep it to go on later: `client.sessions.attach(state.sessionId, state)`. */
  readonly state: ClientSessionState;
  /** Sends a message. What the turn that reads it does comes with the response. */
  send<TOutput = unknown>(message: UserContent, options?: SendOptions<TOutput>): Promise<MessageResponse<TOutput>>;
  /** Answers questions of `input.requested`. */
  respond<TOutput = unknown>(
    inputResponses: readonly InputResponse[],
    options?: AnswerOptions<TOutput>,
  ): Promise<MessageResponse<TOutput>>;
  /** Does again what the last turn failed at. Beyond eve. */
  retry(options?: RequestOptions): Promise<MessageResponse>;
  /** The events from this handle's cursor on, over as many connections as it takes. */
  stream(options?: StreamOptions): AsyncIterable<MessageStreamEvent>;
  /** All events so far. Leaves the cursor of this handle where it is. */
  snapshot(options?: { readonly signal?: AbortSignal }): Promise<SessionSnapshot>;
  /** Stops the turn under way, or only the one that is named. */
  cancel(options?: RequestOptions & { readonly turnId?: string }): Promise<CancelResult>;
  /** Shortens the history to a summary. */
  compact(options?: RequestOptions): Promise<ControlResult>;
  /** Forgets the history and keeps the session. */
  clear(options?: RequestOptions): Promise<ControlResult>;
  /** Ends the session for good. */
  reset(options?: RequestOptions & { readonly reason?: string }): Promise<ResetResult>;
  /** The session of an agent that this one called. */
  agent(started: EventOf<"agent.started">): ClientAgentSession;
  /** A new session with the history of this one, up to the event at index `at`. Beyond eve. */
  fork(options?: RequestOptions & { readonly at?: number }): Promise<ClientSession>;
  /** Everything that is stored of the session, as lines of JSON. What reads it fails when it is cut off. Beyond eve. */
  export(options?: RequestOptions): Promise<ReadableStream<Uint8Array>>;
  /** Removes the session with all that is stored of it. Beyond eve. */
  delete(options?: RequestOptions): Promise<{ readonly status: "deleted" }>;
}

/** What is next of a stream, and how to tell it from what else is there. */
export interface ExpectedTurn {
  /** Index from which the turn is looked for. */
  readonly from: number;
  readonly deliveryId?: string | undefined;
  /** True for the first event that belongs to it. */
  readonly begins: (event: MessageStreamEvent) => boolean;
}

interface OpenSession {
  readonly session: ClientSession;
  expect<TOutput>(turn: ExpectedTurn, options: RequestOptions): MessageResponse<TOutput>;
}

/** A handle of a session. Makes no request. */
export function openSession(context: ClientContext, { sessionId, streamIndex }: ClientSessionState): OpenSession {
  const { requester } = context;
  const path = `/session/${toSegment(sessionId)}`;
  const toUrl = (verb: string, query?: Query): URL => requester.address.api(path + verb, query);
  const sourceWith = ({ headers }: RequestOptions = {}): EventSource => ({
    ...context,
    headers,
    url: (query) => toUrl("/stream", query),
  });
  const cursor = createCursor(sourceWith(), streamIndex);
  /** Where each delivery is looked for: one that is sent again may have been read before. */
  const sent = new Map<string, number>();

  const post = <Name extends string>(
    verb: string,
    body: object,
    options: RequestOptions = {},
    ...names: readonly Name[]
  ): Promise<Readonly<Record<Name, string>>> =>
    submit(context, { method: "POST", url: toUrl(verb), body }, options, names);
  const control = async <T>(verb: string, options?: RequestOptions, body = {}): Promise<T> =>
    ({ sessionId, ...(await post(verb, body, options, "status")) }) as T;

  const expect: OpenSession["expect"] = ({ from, ...turn }, options) =>
    createMessageResponse({
      ...turn,
      sessionId,
      signal: options.signal,
      read: (signal) => readEvents(sourceWith(options), { from, follow: true, signal }),
      cancelTurn: (turnId) => session.cancel({ headers: options.headers, turnId }),
      advance: cursor.advance,
    });

  /** Sends what starts a turn or goes into one. */
  const deliver = async <TOutput>(
    body: { readonly message?: UserContent; readonly inputResponses?: readonly InputResponse[] },
    options: SendOptions<TOutput> = {},
  ): Promise<MessageResponse<TOutput>> => {
    // What comes of it comes behind this, wherever the cursor is by then.
    const sentAt = cursor.index;
    const { deliveryId } = await post("", { ...body, ...toBody(options) }, options, "deliveryId");
    const from = sent.get(deliveryId) ?? sentAt;
    sent.set(deliveryId, from);
    const begins = (event: MessageStreamEvent): boolean =>
      isOfDelivery(event, deliveryId) || isResolved(event, body.inputResponses);
    return expect({ from, deliveryId, begins }, options);
  };

  const session: ClientSession = {
    get state() {
      return { sessionId, streamIndex: cursor.index };
    },
    send: (message, options) => deliver({ message }, options),
    respond: (inputResponses, options) => deliver({ inputResponses }, options),
    retry: async (options = {}) => {
      // The turn may keep its id: what it did before does not belong to the response.
      const last = await readLast(sourceWith(options), options.signal);
      const { turnId } = await post("/retry", {}, options, "turnId");
      return expect({ from: (last?.index ?? -1) + 1, begins: (event) => turnIdOf(event) === turnId }, options);
    },
    stream: cursor.stream,
    snapshot: async ({ signal } = {}) => {
      const events: MessageStreamEvent[] = [];
      for await (const { event } of readEvents(sourceWith(), { from: 0, follow: false, signal })) events.push(event);
      return { events, session: { sessionId, streamIndex: events.length } };
    },
    cancel: ({ turnId, ...options } = {}) => control("/cancel", options, { turnId }),
    compact: (options) => control("/compact", options),
    clear: (options) => control("/clear", options),
    reset: ({ reason, ...options } = {}) => control("/reset", options, { reason }),
    agent: (started) => createAgentSession(context, started),
    fork: async ({ at, ...options } = {}) => {
      const forked = await post("/fork", { at }, options, "sessionId");
      return openSession(context, { ...forked, streamIndex: 0 }).session;
    },
    export: async (options) => (await requester.open({ method: "GET", url: toUrl("/export") }, options)).body!,
    delete: async (options = {}) => {
      await submit(context, { method: "DELETE", url: toUrl("") }, options, ["status"]);
      return { status: "deleted" };
    },
  };
  return { session, expect };
}

/** Answers go on with a turn that has begun: nothing of it but their effect names them. */
function isResolved(event: MessageStreamEvent, answers: readonly InputResponse[] = []): boolean {
  if (event.type !== "input.resolved") return false;
  return event.data.resolutions.some(({ requestId }) => answers.some((answer) => answer.requestId === requestId));
}
