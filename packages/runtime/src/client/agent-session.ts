import { createCursor } from "./cursor.ts";
import type { EventOf, MessageStreamEvent } from "./events.ts";
import type { ClientContext } from "./submit.ts";
import type { StreamOptions } from "./turn-options.ts";

/** The session of an agent that a turn called, local or remote, read with the credentials of the caller's client. */
export interface ClientAgentSession {
  readonly name: string;
  readonly sessionId: string;
  /** The task that opened it, if one did. */
  readonly taskId: string | undefined;
  /** Its events from its first one on, with a cursor of their own. They go on behind the end of a turn. */
  stream(options?: StreamOptions): AsyncIterable<MessageStreamEvent>;
}

/** Nothing but a stream of this agent: a path that leads elsewhere would take the credentials there. */
const STREAM_PATH = /^\/eve(?:\/(?!(?:\.|%2e){1,2}\/)[^/?#\\]+)+\/stream$/i;

/** @throws TypeError when the event's `streamPath` is none. */
export function createAgentSession(context: ClientContext, { data }: EventOf<"agent.started">): ClientAgentSession {
  const { name, sessionId, taskId, streamPath } = data;
  if (!STREAM_PATH.test(streamPath)) throw new TypeError("The streamPath of the event is no stream of this agent.");
  const { address } = context.requester;
  const { stream } = createCursor({ ...context, url: (query) => address.named(streamPath, query) }, 0);
  return { name, sessionId, taskId, stream };
}
