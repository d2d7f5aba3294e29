import { invalidResponse } from "./client-error.ts";
import { isOfDelivery, type MessageStreamEvent } from "./events.ts";
import type { MessageResponse } from "./message-response.ts";
import type { ClientRequest } from "./requester.ts";
import { openSession, type ClientSession } from "./session.ts";
import { submit, type ClientContext } from "./submit.ts";
import { toBody, type CreateOptions, type RequestOptions, type UserContent } from "./turn-options.ts";

/** A session in the list of those that the caller may use. */
export interface SessionSummary {
  readonly sessionId: string;
  readonly agentName: string;
  readonly status: string;
  readonly createdAt: string;
  readonly updatedAt: string;
  readonly endedAt?: string;
  /** The session that called this one. */
  readonly parentSessionId?: string;
  /** How many there are. */
  readonly events: number;
}

export interface SessionPage {
  readonly sessions: readonly SessionSummary[];
  /** Where the next page begins; absent on the last. */
  readonly cursor?: string;
}

/** The sessions of an agent. Every method throws {@link ClientError}. */
export interface ClientSessions {
  /** Opens a session with its first message. */
  create<TOutput = unknown>(
    options: CreateOptions<TOutput> & { readonly message: UserContent },
  ): Promise<{ readonly session: ClientSession; readonly response: MessageResponse<TOutput> }>;
  /** Opens a session that waits for its first message. */
  create(options?: CreateOptions & { readonly message?: never }): Promise<{ readonly session: ClientSession }>;
  /** A handle of a session that is there. Makes no request. `streamIndex` is where it begins to read, default 0. */
  attach(sessionId: string, options?: { readonly streamIndex?: number }): ClientSession;
  /** The caller's sessions, the newest first. Beyond eve. */
  list(options?: RequestOptions & { readonly limit?: number; readonly cursor?: string }): Promise<SessionPage>;
}

export function createSessions(context: ClientContext): ClientSessions {
  const { requester } = context;
  const create = async <TOutput>({ message, ...options }: CreateOptions<TOutput> = {}): Promise<{
    session: ClientSession;
    response?: MessageResponse<TOutput>;
  }> => {
    const body = { message, ...toBody(options) };
    const request: ClientRequest = { method: "POST", url: requester.address.api("/session"), body };
    const { sessionId, deliveryId } = await submit<"sessionId" | "deliveryId">(context, request, options, [
      "sessionId",
      ...(message === undefined ? [] : (["deliveryId"] as const)),
    ]);
    const { session, expect } = openSession(context, { sessionId, streamIndex: 0 });
    if (message === undefined) return { session };
    const begins = (event: MessageStreamEvent): boolean => isOfDelivery(event, deliveryId);
    const response = expect<TOutput>({ from: 0, deliveryId, begins }, options);
    return { session, response };
  };

  return {
    create: create as ClientSessions["create"],
    attach: (sessionId, { streamIndex = 0 } = {}) => openSession(context, { sessionId, streamIndex }).session,
    list: async ({ limit, cursor, ...options } = {}) => {
      const request: ClientRequest = { method: "GET", url: requester.address.api("/session", { limit, cursor }) };
      const page = await requester.json(request, options);
      if (!Array.isArray(page.sessions)) throw invalidResponse(request, page);
      return page as unknown as SessionPage;
    },
  };
}
