import type { Address } from "./address.ts";
import { ClientError, invalidResponse, parseObject, receive, toClientError } from "./client-error.ts";
import { resolveHeaders, type Credentials } from "./credentials.ts";
import type { RequestOptions } from "./turn-options.ts";

export interface RequesterOptions extends Credentials {
  readonly address: Address;
  readonly redirect?: "follow" | "manual" | "error" | undefined;
  readonly fetch?: typeof globalThis.fetch | undefined;
}

export interface ClientRequest {
  readonly method: "GET" | "POST" | "DELETE";
  readonly url: URL;
  readonly body?: object;
}

/** Waits for a part of an answer, and throws in its place what is wrong with it. */
export type Wait = <T>(part: Promise<T>) => Promise<T>;

export interface Requester {
  readonly address: Address;
  /** Sends a request. Returns its answer, which is a success, before its body has come. */
  open(request: ClientRequest, options?: RequestOptions, wait?: Wait): Promise<Response>;
  /** Sends a request. Returns the JSON object that it is answered with. */
  json(request: ClientRequest, options?: RequestOptions): Promise<Readonly<Record<string, unknown>>>;
}

/** What all requests of a client have in common: address, credentials, redirects, errors. */
export function createRequester({ address, redirect = "follow", ...options }: RequesterOptions): Requester {
  const open: Requester["open"] = async (
    request,
    { headers: own, signal = null } = {},
    wait = (part) => receive(request, part, signal),
  ) => {
    const { method, url } = request;
    const headers = await resolveHeaders(options, own);
    // What is meant for this origin goes to no other (§10.5), so only without it may `fetch` decide where to.
    const mode = redirect === "follow" && [...headers].length === 0 ? "follow" : "manual";
    const body = request.body === undefined ? null : JSON.stringify(request.body);
    if (body !== null) headers.set("content-type", "application/json");
    // Looked up for each request: whoever instruments `fetch` may come later.
    const send = options.fetch ?? globalThis.fetch;
    const response = await wait(send(url.href, { method, headers, body, redirect: mode, signal }));
    if (response.ok) return response;
    const { status, type } = response;
    if (type === "opaqueredirect" || (status > 300 && status < 400)) {
      void response.body?.cancel();
      throw new ClientError("A redirect is not followed with credentials: use the final address as host.", {
        status,
        code: "redirected",
      });
    }
    throw await wait(toClientError(request, response));
  };
  return {
    address,
    open,
    json: async (request, options) => {
      const response = await open(request, options);
      const body = await receive(request, response.text(), options?.signal);
      const answer = parseObject(body);
      if (answer !== undefined) return answer;
      throw invalidResponse(request, body);
    },
  };
}
