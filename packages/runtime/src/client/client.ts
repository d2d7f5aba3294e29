import type { AgentInfo } from "../protocol/agent-info.ts";
import { toAddress } from "./address.ts";
import { invalidResponse } from "./client-error.ts";
import type { Credentials } from "./credentials.ts";
import { createRequester, type ClientRequest, type Requester } from "./requester.ts";
import type { ReconnectPolicy } from "./reconnect.ts";
import { createSessions, type ClientSessions } from "./sessions.ts";
import type { RequestOptions } from "./turn-options.ts";

export interface ClientOptions extends Credentials, Partial<ReconnectPolicy> {
  /**
   * Where the agent is: `https://agents.example.com/eve/foreman` for a member of a workspace, the bare origin for an
   * agent that is served alone, `""` or a path for what a page is served with. Its query is part of every request.
   */
  readonly host: string;
  /**
   * Whether a redirect is followed: by default only when neither `auth` nor `headers` could be sent to where it leads,
   * with `manual` and `error` never. What is not followed fails with `redirected`.
   */
  readonly redirect?: "follow" | "manual" | "error";
  /** Takes the place of the global one. */
  readonly fetch?: typeof globalThis.fetch;
}

export interface HealthResult {
  readonly ok: true;
  readonly status: "ready";
  readonly workflowId: string;
  /** `false`: what the agent accepts is lost with its process. */
  readonly durable?: boolean;
}

const POLICY: ReconnectPolicy = { maxReconnectAttempts: 30, reconnectDelayMs: 100, silenceMs: 15_000 };

/**
 * A client of one agent: opens sessions, sends messages, reads what comes of them. Works in browsers and in Node.
 * Its methods throw {@link ClientError}, or the reason of the `signal` that was aborted.
 *
 * @example
 * const client = new Client({ host: "http://127.0.0.1:3000/eve/foreman" });
 * const { session, response } = await client.sessions.create({ message: "Hello" });
 * console.log((await response.result()).message);
 */
export class Client {
  readonly sessions: ClientSessions;
  readonly #requester: Requester;

  /** @throws TypeError when `host` is no http(s) URL and no path, or holds credentials. */
  constructor(options: ClientOptions) {
    this.#requester = createRequester({ ...options, address: toAddress(options.host) });
    this.sessions = createSessions({ requester: this.#requester, policy: { ...POLICY, ...options } });
  }

  /** Whether the agent answers (PROTOCOL, Routes). */
  health(options?: RequestOptions): Promise<HealthResult> {
    const isHealth = ({ ok, status, workflowId }: Partial<HealthResult>): boolean =>
      ok === true && status === "ready" && typeof workflowId === "string";
    return this.#get("/health", isHealth, options);
  }

  /** The agents behind the API: their models, tools and subagents (PROTOCOL, Routes). */
  info(options?: RequestOptions): Promise<AgentInfo> {
    return this.#get("/info", ({ kind }: Partial<AgentInfo>) => kind === "eve-agent-info", options);
  }

  async #get<T>(path: string, isRight: (answer: Partial<T>) => boolean, options?: RequestOptions): Promise<T> {
    const request: ClientRequest = { method: "GET", url: this.#requester.address.api(path) };
    const answer = (await this.#requester.json(request, options)) as T;
    if (!isRight(answer)) throw invalidResponse(request, answer);
    return answer;
  }
}
