import { Agent, request as connect, type IncomingMessage, type ServerResponse } from "node:http";
import { pipeline } from "node:stream";

/** Headers that belong to one connection (RFC 9110, section 7.6.1); `transfer-encoding` is decided anew. */
const HOP_BY_HOP = new Set([
  "connection",
  "keep-alive",
  "proxy-authenticate",
  "proxy-authorization",
  "proxy-connection",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
]);

/**
 * - `answered`: the response was passed on, or the client is gone.
 * - `unsent`: nothing of the request reached the member; it may be sent again.
 * - `lost`: the member ended while it worked on the request; nobody knows how far it came.
 */
export type ProxyOutcome = "answered" | "unsent" | "lost";

export interface Proxy {
  forward(request: IncomingMessage, response: ServerResponse, port: number): Promise<ProxyOutcome>;
  close(): void;
}

/** Passes requests on to a port of this machine as they come, without holding back a byte in either direction. */
export function createProxy(): Proxy {
  const agent = new Agent({ keepAlive: true });
  return {
    forward: (request, response, port) => forward(agent, request, response, port),
    close: () => agent.destroy(),
  };
}

function forward(
  agent: Agent,
  request: IncomingMessage,
  response: ServerResponse,
  port: number,
): Promise<ProxyOutcome> {
  return new Promise((resolve) => {
    let sent = false;
    const outgoing = connect({
      agent,
      host: "127.0.0.1",
      port,
      method: request.method,
      path: request.url,
      headers: endToEnd(request.rawHeaders),
      setHost: false,
    });
    // Read from the client only once there is a connection: what was read could not be sent again.
    const send = (): void => {
      sent = true;
      request.pipe(outgoing);
    };
    outgoing.on("socket", (socket) => (socket.connecting ? socket.once("connect", send) : send()));
    outgoing.on("response", (incoming) => {
      response.writeHead(incoming.statusCode!, incoming.statusMessage, endToEnd(incoming.rawHeaders));
      // A stream may wait long for its first event; the client should know at once that it is open.
      response.flushHeaders();
      pipeline(incoming, response, () => resolve("answered"));
    });
    outgoing.on("error", () => {
      request.unpipe(outgoing);
      if (response.destroyed || response.headersSent) return resolve("answered");
      // Reading does no harm, and a request without a body has nothing that could be half sent.
      const isRead = request.method === "GET" || request.method === "HEAD";
      resolve(!sent || isRead ? "unsent" : "lost");
    });
    response.once("close", () => {
      // The client went away. A connection that has done its work stays for the next request.
      if (!response.writableFinished) outgoing.destroy();
      resolve("answered");
    });
  });
}

/** Name, value, name, value, … without the headers of the connection and those that it names. */
function endToEnd(raw: readonly string[]): string[] {
  const dropped = new Set(HOP_BY_HOP);
  for (let index = 0; index < raw.length; index += 2) {
    if (raw[index]!.toLowerCase() !== "connection") continue;
    for (const name of raw[index + 1]!.split(",")) dropped.add(name.trim().toLowerCase());
  }
  const kept: string[] = [];
  for (let index = 0; index < raw.length; index += 2) {
    if (!dropped.has(raw[index]!.toLowerCase())) kept.push(raw[index]!, raw[index + 1]!);
  }
  return kept;
}
