import { AgentError } from "../errors.ts";
import { acceptedSchema, REMOTE_PROTOCOL_VERSION } from "../protocol/wire.ts";
import type { StreamEvent } from "../protocol/events.ts";
import type { RemoteAddress } from "./address.ts";

const REQUEST_TIMEOUT_MS = 30_000;

/** How a request to a remote failed, and whether it is worth sending again. */
export class RemoteFailure extends Error {
  readonly code: "REMOTE_FAILED" | "UNCERTAIN_OUTCOME" | "PROTOCOL_MISMATCH";
  readonly retryable: boolean;
  readonly status: number | undefined;

  constructor(
    code: RemoteFailure["code"],
    message: string,
    options: { retryable?: boolean; status?: number; cause?: unknown } = {},
  ) {
    super(message, { cause: options.cause });
    this.name = "RemoteFailure";
    this.code = code;
    this.retryable = options.retryable ?? false;
    this.status = options.status;
  }
}

export interface Accepted {
  readonly sessionId: string;
  readonly deliveryId: string | undefined;
}

interface Request {
  readonly address: RemoteAddress;
  readonly signal: AbortSignal;
}

/** Opens a session at a remote, or repeats that request (PROTOCOL, Remote calls). */
export async function createRemoteSession(
  request: Request,
  body: Readonly<Record<string, unknown>>,
): Promise<Accepted> {
  const payload = { ...body, capabilities: { requestInput: true }, protocolVersion: REMOTE_PROTOCOL_VERSION };
  return accepted(await post(request, request.address.sessions, payload));
}

/** Sends a follow-up to a session at a remote. */
export async function sendToRemoteSession(
  request: Request,
  sessionId: string,
  body: Readonly<Record<string, unknown>>,
): Promise<Accepted> {
  return accepted(await post(request, sessionUrl(request.address, sessionId), body));
}

/** Asks a remote to cancel the turn of a session, or to reset it. */
export async function stopRemoteSession(request: Request, sessionId: string, verb: "cancel" | "reset"): Promise<void> {
  const response = await post(request, `${sessionUrl(request.address, sessionId)}/${verb}`, {});
  await response.body?.cancel();
}

/** Posts a callback to a caller. A caller that no longer knows the token is answered, too. */
export async function postCallback(
  url: string,
  body: Readonly<Record<string, unknown>>,
  signal: AbortSignal,
): Promise<void> {
  const address: RemoteAddress = { sessions: url, url, headers: async () => ({}) };
  const response = await post({ address, signal }, url, body, [404, 410]);
  await response.body?.cancel();
}

/** Opens the stream of a session at a remote. */
export async function openRemoteStream(request: Request, sessionId: string, query: string): Promise<Response> {
  const url = `${sessionUrl(request.address, sessionId)}/stream${query}`;
  return fetch(await toRequest(request, url, { method: "GET" }));
}

/** All events of a remote's session so far. A remote that stops in the middle is worth another try. */
export async function readRemoteStream(
  { address, signal }: Request,
  sessionId: string,
  timeoutMs: number = REQUEST_TIMEOUT_MS,
): Promise<StreamEvent[]> {
  const request = { address, signal: AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]) };
  let text: string;
  try {
    const response = await openRemoteStream(request, sessionId, "?startIndex=0&follow=false");
    if (!response.ok) throw await failure(response);
    text = await response.text();
  } catch (error) {
    if (AgentError.is(error) || error instanceof RemoteFailure) throw error;
    throw new RemoteFailure("REMOTE_FAILED", unreachable(request.address, error), { retryable: true, cause: error });
  }
  try {
    return text.split("\n").flatMap((line) => (line.trim() === "" ? [] : [JSON.parse(line) as StreamEvent]));
  } catch (error) {
    throw new RemoteFailure("REMOTE_FAILED", "The remote's stream is not NDJSON.", { cause: error });
  }
}

function sessionUrl(address: RemoteAddress, sessionId: string): string {
  if (sessionId === "" || sessionId === "." || sessionId === "..") {
    throw new RemoteFailure("REMOTE_FAILED", "The remote's session id is not one.");
  }
  return `${address.sessions}/${encodeURIComponent(sessionId)}`;
}

async function post(
  { address, signal }: Request,
  url: string,
  body: unknown,
  expected: readonly number[] = [],
): Promise<Response> {
  let response: Response;
  try {
    const timed = AbortSignal.any([signal, AbortSignal.timeout(REQUEST_TIMEOUT_MS)]);
    response = await fetch(await toRequest({ address, signal: timed }, url, { method: "POST", body }));
  } catch (error) {
    if (AgentError.is(error) || error instanceof RemoteFailure) throw error;
    throw new RemoteFailure("REMOTE_FAILED", unreachable(address, error), { retryable: true, cause: error });
  }
  if (response.ok || expected.includes(response.status)) return response;
  throw await failure(response);
}

/** @throws RemoteFailure that names neither a header nor the URL: both may hold a credential. */
async function toRequest(
  { address, signal }: Request,
  url: string,
  { method, body }: { readonly method: "GET" | "POST"; readonly body?: unknown },
): Promise<globalThis.Request> {
  const headers = await address.headers({ url, method });
  try {
    return new globalThis.Request(url, {
      method,
      headers: body === undefined ? headers : { ...headers, "content-type": "application/json" },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      // A redirect would take the credentials to another origin (§10.5).
      redirect: "manual",
      signal,
    });
  } catch (error) {
    throw new RemoteFailure(
      "REMOTE_FAILED",
      "A request to the remote can not be made: its address or a header is not valid.",
      {
        cause: error,
      },
    );
  }
}

async function accepted(response: Response): Promise<Accepted> {
  const parsed = acceptedSchema.safeParse(await response.json().catch(() => undefined));
  if (!parsed.success) {
    throw new RemoteFailure(
      "UNCERTAIN_OUTCOME",
      "The remote answered with success but without a session that can be read: the task may be running there.",
    );
  }
  const { sessionId, deliveryId, protocolVersion } = parsed.data;
  if (protocolVersion !== undefined && Math.abs(protocolVersion - REMOTE_PROTOCOL_VERSION) > 1) {
    throw new RemoteFailure(
      "PROTOCOL_MISMATCH",
      `The remote speaks version ${protocolVersion} of the protocol, this member version ${REMOTE_PROTOCOL_VERSION}.`,
    );
  }
  return { sessionId, deliveryId };
}

async function failure(response: Response): Promise<RemoteFailure> {
  const body = (await response.json().catch(() => undefined)) as { error?: unknown; code?: unknown } | undefined;
  const said = typeof body?.error === "string" ? `: ${body.error}` : "";
  const retryable = response.status >= 500 || response.status === 429 || response.status === 408;
  return new RemoteFailure("REMOTE_FAILED", `The remote answered ${response.status}${said}`, {
    retryable,
    status: response.status,
  });
}

/** Says the code only: the message of a network error may repeat what was sent. */
function unreachable(address: RemoteAddress, error: unknown): string {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  const { code, name } = cause as { readonly code?: unknown; readonly name?: unknown };
  const reason = typeof code === "string" ? code : String(name ?? "no reason given");
  return `The remote at ${new URL(address.url).origin} can not be reached: ${reason}.`;
}
