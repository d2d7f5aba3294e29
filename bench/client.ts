/**
 * Not `eve/client`: it uses `fetch`, which costs a request 0.3 ms of CPU more than `node:http` on the cores that the
 * servers share, and a turn here takes 1.4 ms. It is also what both sides are driven with, so it is nobody's own.
 */
import http from "node:http";
import { setTimeout as delay } from "node:timers/promises";

const TURN_MS = 30_000;
const agent = new http.Agent({ keepAlive: true, maxSockets: 256 });
const HEADERS = {
  "content-type": "application/json",
  authorization: `Basic ${Buffer.from("bench:bench").toString("base64")}`,
};

/** Events that a turn must have shown, so that a turn which failed is never timed. */
const EXPECTED: Readonly<Record<string, string>> = { tool: "action.result", sub: "task.settled", peer: "task.settled" };

/** A session at a server that speaks the eve protocol, with its stream open. */
export interface Session {
  /** Sends `bench:<turn>` and waits for `session.waiting` on the stream; milliseconds from the POST to that event. */
  turn(turn: string): Promise<number>;
  close(): void;
}

/** Opens a session with its first message; `openMs` is the time until its answer was seen. */
export async function openSession(api: string, turn = "plain"): Promise<Session & { readonly openMs: number }> {
  const begun = performance.now();
  const { sessionId } = await post(`${api}/session`, { message: `bench:${turn}` });
  const reader = follow(`${api}/session/${sessionId}/stream`);
  // Nobody answers a turn that hangs; it is accepted.
  if (turn !== "hang") await reader.next(turn);
  return {
    openMs: reader.seenAt() - begun,
    turn: async (name) => {
      const sent = performance.now();
      const answered = reader.next(name);
      answered.catch(() => {});
      await post(`${api}/session/${sessionId}`, { message: `bench:${name}` });
      await answered;
      return reader.seenAt() - sent;
    },
    close: reader.close,
  };
}

interface Reader {
  next(turn: string): Promise<void>;
  /** When the last `session.waiting` came. */
  seenAt(): number;
  close(): void;
}

interface Event {
  readonly type: string;
  readonly data: { readonly status?: string; readonly message?: unknown };
}

/** Reads the stream, over as many connections as the server wants. */
function follow(url: string): Reader {
  let closed = false;
  let request: http.ClientRequest | undefined;
  let events = 0;
  let seenAt = 0;
  let counts = new Map<string, number>();
  let problem: Error | undefined;
  let settle = (): void => {};

  const take = (line: string): void => {
    const event = JSON.parse(line) as Event;
    if (!event.type) return;
    events++;
    const { type, data } = event;
    if (type.endsWith(".failed")) problem = new Error(`${type}: ${JSON.stringify(data)}`);
    if (data?.status !== undefined && data.status !== "completed")
      problem = new Error(`${type}: ${JSON.stringify(data)}`);
    counts.set(type, (counts.get(type) ?? 0) + 1);
    if (type !== "session.waiting") return;
    seenAt = performance.now();
    settle();
  };
  const connect = (): void => {
    request = http.get(`${url}?startIndex=${events}`, { headers: HEADERS, agent: false }, (response) => {
      let rest = "";
      response.setEncoding("utf8").on("data", (text: string) => {
        const lines = (rest + text).split("\n");
        rest = lines.pop()!;
        for (const line of lines) if (line.trim() !== "") take(line);
      });
      response.on("close", reconnect);
    });
    request.on("error", reconnect);
  };
  let pending: NodeJS.Timeout | undefined;
  const reconnect = (): void => {
    if (closed || pending !== undefined) return;
    pending = setTimeout(() => {
      pending = undefined;
      if (!closed) connect();
    }, 5);
  };
  connect();

  return {
    seenAt: () => seenAt,
    close: () => {
      closed = true;
      request?.destroy();
    },
    next: async (turn) => {
      const before = counts.get("session.waiting") ?? 0;
      await new Promise<void>((resolve, reject) => {
        const timer = setTimeout(
          () => reject(new Error(`bench:${turn} was not answered in ${TURN_MS / 1000} s.`)),
          TURN_MS,
        );
        settle = () => {
          clearTimeout(timer);
          resolve();
        };
        // The first turn may have ended before anybody waits for it.
        if ((counts.get("session.waiting") ?? 0) > before) settle();
      });
      check(turn, counts, problem);
      counts = new Map();
    },
  };
}

function check(turn: string, counts: ReadonlyMap<string, number>, problem: Error | undefined): void {
  if (problem !== undefined) throw problem;
  const [, kind = "", amount = "0"] = /^([a-z]+?)(\d*)$/.exec(turn) ?? [];
  const type = EXPECTED[kind];
  const seen = type === undefined ? 0 : (counts.get(type) ?? 0);
  if (seen < Number(amount)) throw new Error(`bench:${turn} showed ${seen} × ${type}.`);
}

/** Posts JSON; a session that is just being opened may refuse for a moment. */
async function post(url: string, body: unknown): Promise<{ readonly sessionId: string }> {
  const end = performance.now() + TURN_MS;
  for (;;) {
    const { status, text } = await request(url, JSON.stringify(body));
    if (status === 200 || status === 202) return JSON.parse(text) as { sessionId: string };
    if (status !== 409 || performance.now() > end) throw new Error(`POST ${new URL(url).pathname}: ${status} ${text}`);
    await delay(2);
  }
}

function request(url: string, body: string): Promise<{ status: number; text: string }> {
  return new Promise((resolve, reject) => {
    const headers = { ...HEADERS, "content-length": Buffer.byteLength(body) };
    const sent = http.request(url, { method: "POST", agent, headers, timeout: TURN_MS }, (response) => {
      let text = "";
      response.setEncoding("utf8").on("data", (chunk: string) => (text += chunk));
      response.on("end", () => resolve({ status: response.statusCode ?? 0, text }));
      response.on("error", reject);
    });
    sent.on("timeout", () => sent.destroy(new Error(`POST ${url} was not answered.`)));
    sent.on("error", reject);
    sent.end(body);
  });
}

/** Whether `GET <api>/health` answers 200. */
export function isHealthy(api: string): Promise<boolean> {
  return new Promise((resolve) => {
    const sent = http.get(`${api}/health`, { agent: false, timeout: 2_000 }, (response) => {
      response.resume();
      resolve(response.statusCode === 200);
    });
    sent.on("timeout", () => sent.destroy());
    sent.on("error", () => resolve(false));
  });
}
