import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { AgentError, ERROR_CODES } from "../errors.ts";

export interface Address {
  readonly host: string;
  readonly port: number;
}

/** Why a member can not answer. `diagnostics` are data for programs, `lines` the same for people. */
export interface Unavailable {
  readonly error: string;
  readonly diagnostics: readonly unknown[];
  readonly lines: readonly string[];
}

/**
 * Answers every request with 503 and the reason, as JSON, or as plain text for a browser.
 *
 * @returns stops answering and frees the port.
 * @throws AgentError `PORT_IN_USE`
 */
export async function answerUnavailable(address: Address, reason: Unavailable): Promise<() => Promise<void>> {
  const server = createServer((request, response) => answer(request, response, reason));
  await listen(server, address);
  return () =>
    new Promise((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
}

/** Fails when somebody else listens at the address. */
export async function checkPortFree(address: Address): Promise<void> {
  const server = createServer();
  await listen(server, address);
  await new Promise((resolve) => server.close(resolve));
}

function listen(server: Server, { host, port }: Address): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", (error: NodeJS.ErrnoException) => reject(toPortError(error, { host, port })));
    server.listen(port, host, resolve);
  });
}

function toPortError(error: NodeJS.ErrnoException, { host, port }: Address): Error {
  if (error.code !== "EADDRINUSE") return error;
  return new AgentError("PORT_IN_USE", `Port ${port} of ${host} is in use by another process.`, {
    fix: "Stop that process, or choose another port with --port.",
    data: { host, port },
  });
}

function answer(request: IncomingMessage, response: ServerResponse, reason: Unavailable): void {
  request.resume();
  const isBrowser = /\btext\/html\b/.test(request.headers.accept ?? "");
  const body = isBrowser
    ? [reason.error, ...reason.lines, ""].join("\n")
    : JSON.stringify({ ok: false, error: reason.error, code: "MEMBER_UNAVAILABLE", diagnostics: reason.diagnostics });
  response.writeHead(ERROR_CODES.MEMBER_UNAVAILABLE.status, {
    "content-type": `${isBrowser ? "text/plain" : "application/json"}; charset=utf-8`,
    "cache-control": "no-store",
    "retry-after": "1",
    connection: "close",
  });
  response.end(body);
}
