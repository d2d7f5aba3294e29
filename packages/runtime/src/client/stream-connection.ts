import type { Query } from "./address.ts";
import { ClientError, receive } from "./client-error.ts";
import type { ReconnectPolicy } from "./reconnect.ts";
import type { ClientRequest, Requester, Wait } from "./requester.ts";
import { createLineSplitter } from "./split-lines.ts";

/** A stream of events, wherever it is. */
export interface EventSource {
  readonly requester: Requester;
  readonly policy: ReconnectPolicy;
  readonly url: (query: Query) => URL;
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

/** One connection of a stream, which is read over as many as it takes. */
export interface StreamConnection {
  /** Index of the last event when the connection was opened, if the server says. */
  readonly tailIndex: string | null;
  /** The lines that came next; `undefined` when the response has ended. */
  read(): Promise<readonly string[] | undefined>;
  close(): void;
}

/** Older versions have events of another form. */
const VERSION = /^2[56]$/;

/**
 * Opens a stream. Gives a connection up that is silent for too long.
 *
 * @throws ClientError `unreachable` when the connection fails, `unsupported_stream` when the answer is no stream of a
 * known version, or whatever the server answered.
 */
export async function openStream(
  { requester, policy: { silenceMs }, headers, url }: EventSource,
  query: Query,
  signal: AbortSignal | undefined,
): Promise<StreamConnection> {
  const request: ClientRequest = { method: "GET", url: url(query) };
  const own = new AbortController();
  const close = (): void => own.abort();
  const wait: Wait = async (part) => {
    const timer = setTimeout(() => own.abort(new Error(`Nothing came for ${silenceMs} ms.`)), silenceMs);
    try {
      return await receive(request, part, signal);
    } finally {
      clearTimeout(timer);
    }
  };
  const either = signal === undefined ? own.signal : AbortSignal.any([signal, own.signal]);
  const response = await requester.open(request, { headers, signal: either }, wait);
  const version = response.headers.get("x-eve-stream-version") ?? "missing";
  if (!VERSION.test(version)) {
    close();
    throw new ClientError(
      `x-eve-stream-version is ${version}, this client reads 25 and 26: check host, or upgrade the older side.`,
      { status: response.status, code: "unsupported_stream" },
    );
  }
  const reader = response.body!.getReader();
  // A line without its end was cut off with the connection: it comes again, on the next.
  const toLines = createLineSplitter();
  return {
    tailIndex: response.headers.get("x-eve-stream-tail-index"),
    read: async () => {
      const { done, value } = await wait(reader.read());
      return done ? undefined : toLines(value);
    },
    close,
  };
}
