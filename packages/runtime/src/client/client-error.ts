export interface ClientErrorOptions {
  readonly status?: number;
  readonly body?: string;
  readonly code?: string | undefined;
  readonly cause?: unknown;
}

/**
 * What every request of the client fails with, unless it was aborted. Never holds a header or the query of a URL:
 * both may be credentials.
 *
 * `status` and `body` are those of the answer, `0` and `""` when there was none. `code` is that of the answer's body
 * (docs/errors.md), or one of the client's own: `unreachable`, `redirected`, `invalid_response`, `invalid_event`,
 * `unsupported_stream`, `stream_interrupted` (docs/guides/client.md).
 */
export class ClientError extends Error {
  readonly status: number;
  readonly body: string;
  readonly code: string | undefined;

  constructor(message: string, { status = 0, body = "", code, cause }: ClientErrorOptions = {}) {
    super(message, { cause });
    this.name = "ClientError";
    this.status = status;
    this.body = body;
    this.code = code;
  }
}

interface Asked {
  readonly method: string;
  readonly url: URL;
}

/** The error that an answer without success stands for; reads its body. */
export async function toClientError(request: Asked, response: Response): Promise<ClientError> {
  const { status } = response;
  const body = await response.text().catch(() => "");
  const { error = "no reason was given.", code } = (parseObject(body) ?? {}) as Partial<Record<string, string>>;
  return new ClientError(`${nameOf(request)} was answered with ${status}: ${error}`, { status, body, code });
}

/**
 * Waits for a part of an answer.
 *
 * @throws ClientError `unreachable` when it does not come, or the reason for which the caller wants it no more.
 */
export async function receive<T>(request: Asked, part: Promise<T>, signal: AbortSignal | null | undefined): Promise<T> {
  try {
    return await part;
  } catch (cause) {
    signal?.throwIfAborted();
    if (cause instanceof ClientError) throw cause;
    throw new ClientError(`${nameOf(request)} failed: the agent can not be reached.`, { code: "unreachable", cause });
  }
}

/** The answer is a success, and not one of an agent. */
export function invalidResponse(request: Asked, answer: unknown): ClientError {
  const problem = `${nameOf(request)} was not answered as an agent does. Check host.`;
  const body = typeof answer === "string" ? answer : JSON.stringify(answer);
  return new ClientError(problem, { status: 200, body, code: "invalid_response" });
}

/** True when the same request may succeed later. */
export function isTransient(error: unknown): boolean {
  if (!(error instanceof ClientError)) return false;
  const { status, code } = error;
  return code === "unreachable" || code === "session_not_ready" || status >= 500 || status === 429 || status === 408;
}

/** `undefined` for what is no object in JSON. */
export function parseObject(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}

function nameOf({ method, url }: Asked): string {
  return `${method} ${url.pathname}`;
}
