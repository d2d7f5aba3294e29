import { Client, type ClientOptions, type MessageResult } from "./index.ts";
import {
  answerJson,
  listen,
  startStream,
  streamLines,
  toLines,
  type Received,
  type TestServer,
} from "./misbehaving-server.fixture.ts";

export const TURN = { turnId: "turn_1", sequence: 1 };
export const STEP = { ...TURN, stepIndex: 0 };
/** How the turn that reads delivery `d` begins. */
export const BEGIN = toLines(["turn.started", TURN], ["message.received", { ...TURN, message: "?", parts: [] }, "d"]);
export const WAITING = toLines(["session.waiting", {}]);

export interface Agent {
  readonly client: Client;
  readonly server: TestServer;
  readonly lines: readonly string[];
  /** Adds to the stream, which those that follow it see. */
  append(...lines: readonly string[]): void;
  posts(): Received[];
}

/** An agent that accepts every message as delivery `d`, and whose stream is what the test makes it. */
export async function startAgent(lines: readonly string[], options: Partial<ClientOptions> = {}): Promise<Agent> {
  const written = [...lines];
  const followers = new Set<() => void>();
  const server = await listen((request, response) => {
    if (request.method === "GET") {
      if (request.query.get("follow") === "false") return streamLines(request, response, written);
      startStream(response);
      let next = Number(request.query.get("startIndex"));
      const follow = (): void => {
        while (next < written.length) response.write(`${written[next++]}\n`);
      };
      followers.add(follow);
      response.on("close", () => followers.delete(follow));
      return follow();
    }
    if (request.path.endsWith("/cancel")) return answerJson(response, 202, { status: "accepted" });
    if (request.path.endsWith("/retry")) return answerJson(response, 202, { ok: true, turnId: "turn_1" });
    answerJson(response, 202, { ok: true, sessionId: "s", status: "accepted", deliveryId: "d" });
  });
  return {
    client: new Client({ host: server.origin, reconnectDelayMs: 1, ...options }),
    server,
    lines: written,
    append: (...more) => {
      written.push(...more);
      for (const follow of followers) follow();
    },
    posts: () => server.received.filter(({ method }) => method === "POST"),
  };
}

/** The lines that the events of a result came in. */
export function linesOf({ events }: MessageResult): string[] {
  return events.map((event) => JSON.stringify(event));
}
