import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { onTestFinished } from "vitest";
import type { MessageStreamEvent } from "./events.ts";

export interface Received {
  readonly method: string;
  /** Below the host, without the query. */
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: IncomingMessage["headers"];
  readonly body: unknown;
  /** How many requests of this method and path came before. */
  readonly nth: number;
}

export interface TestServer {
  readonly origin: string;
  readonly received: readonly Received[];
  /** How many responses are not over yet. */
  readonly open: number;
}

/** An HTTP server, until the test ends, that answers as the test says. What it does not answer, hangs. */
export async function listen(
  answer: (request: Received, response: ServerResponse) => void | Promise<void>,
): Promise<TestServer> {
  const received: Received[] = [];
  let open = 0;
  const server = createServer(async (request, response) => {
    open++;
    response.on("close", () => open--);
    const url = new URL(request.url!, "http://test.invalid");
    const body = await text(request);
    const [method, path] = [request.method!, url.pathname];
    const nth = received.filter((other) => other.method === method && other.path === path).length;
    const seen = { method, path, query: url.searchParams, headers: request.headers, nth };
    received.push({ ...seen, body: body === "" ? undefined : JSON.parse(body) });
    await answer(received.at(-1)!, response);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    received,
    get open() {
      return open;
    },
  };
}

/** Starts a stream as a member does. */
export function startStream(response: ServerResponse, headers: Readonly<Record<string, string>> = {}): void {
  response.writeHead(200, {
    "content-type": "application/x-ndjson; charset=utf-8",
    "x-eve-stream-version": "26",
    ...headers,
  });
  response.write("\n");
}

/** Streams `lines` from where the request asks, and ends. */
export function streamLines({ query }: Received, response: ServerResponse, lines: readonly string[]): void {
  startStream(response, { "x-eve-stream-tail-index": String(lines.length - 1) });
  const start = Number(query.get("startIndex") ?? 0);
  const from = start < 0 ? Math.max(0, lines.length + start) : start;
  response.end(
    lines
      .slice(from)
      .map((line) => `${line}\n`)
      .join(""),
  );
}

export function answerJson(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
}

type Sketch = readonly [type: MessageStreamEvent["type"], data?: object, deliveryId?: string];

let ids = 0;

/** The lines of a stream, each from the type of its event and what its data needs to hold. */
export function toLines(...sketches: readonly Sketch[]): string[] {
  return sketches.map(([type, data = {}, deliveryId]) =>
    JSON.stringify({
      type,
      data,
      meta: {
        id: `evt_${String(ids++).padStart(26, "0")}`,
        at: "2026-11-30T00:00:00.000Z",
        ...(deliveryId === undefined ? {} : { deliveryIds: [deliveryId] }),
      },
    }),
  );
}

/** A turn that answers the message of a delivery with `reply`, said in two pieces. */
export function turnLines(sequence: number, deliveryId: string, reply: string): string[] {
  const turn = { turnId: `turn_${sequence}`, sequence };
  const step = { ...turn, stepIndex: 0 };
  const half = Math.ceil(reply.length / 2);
  return toLines(
    ["turn.started", turn],
    ["message.received", { ...turn, message: "?", parts: [] }, deliveryId],
    ["step.started", { ...step, attempt: 1 }],
    ["message.appended", { ...step, messageDelta: reply.slice(0, half) }],
    ["message.appended", { ...step, messageDelta: reply.slice(half) }],
    ["message.completed", { ...step, message: reply, finishReason: "stop" }],
    ["step.completed", { ...step, finishReason: "stop" }],
    ["turn.completed", turn],
    ["session.waiting", { wait: "next-user-message" }],
  );
}
