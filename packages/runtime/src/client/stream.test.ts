import type { ServerResponse } from "node:http";
import { describe, expect, test, vi } from "vitest";
import { collectLines } from "./collect.fixture.ts";
import { Client, ClientError, type ClientOptions, type ClientSession } from "./index.ts";
import {
  answerJson,
  listen,
  startStream,
  streamLines,
  toLines,
  turnLines,
  type Received,
  type TestServer,
} from "./misbehaving-server.fixture.ts";

const LEASE_ENDED = '{"$eve":"stream.lease-ended","version":1}\n';
/** A session that has ended, with characters of several bytes in it. */
const ENDED = [
  ...toLines(["session.started", { runtime: {} }]),
  ...turnLines(0, "d0", "Ebbe und Flut 🌊, größer"),
  ...toLines(["session.completed", { usage: {} }]),
];

type Answer = (request: Received, response: ServerResponse) => void;

/** A handle of session `s` at a server that answers its streams so. */
async function attach(
  answer: Answer,
  options: Partial<ClientOptions> = {},
): Promise<{ session: ClientSession; server: TestServer }> {
  const server = await listen(answer);
  const client = new Client({ host: server.origin, reconnectDelayMs: 1, ...options });
  return { session: client.sessions.attach("s"), server };
}

async function codeOf(reading: Promise<unknown>): Promise<string | undefined> {
  const error = await reading.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(ClientError);
  return (error as ClientError).code;
}

const indexes = ({ received }: TestServer): string[] => received.map(({ query }) => query.get("startIndex")!);

describe("no event is lost and none comes twice", () => {
  const short = [ENDED[0]!, ...toLines(["message.appended", { messageDelta: "größer 🌊" }], ["session.completed"])];
  const body = Buffer.from(`\n${short.map((line) => `${line}\n`).join("")}`);

  test.each<[string, (response: ServerResponse) => void]>([
    ["ends", (response) => void response.end()],
    ["breaks", (response) => void response.socket!.destroySoon()],
  ])("when a connection %s, at every byte", async (_, cut) => {
    const { origin } = await listen((request, response) => {
      if (request.nth > 0) return streamLines(request, response, short);
      // The id of a session is how much of its stream the first connection brings.
      const bytes = Number(/session\/(\d+)/.exec(request.path)![1]);
      response.writeHead(200, { "x-eve-stream-version": "26" });
      response.write(body.subarray(0, bytes), () => cut(response));
    });
    const { sessions } = new Client({ host: origin, reconnectDelayMs: 1 });
    for (let from = 1; from < body.length; from += 50) {
      const cuts = Array.from({ length: Math.min(50, body.length - from) }, (_, index) => String(from + index));
      const read = await Promise.all(cuts.map((id) => collectLines(sessions.attach(id).stream())));
      for (const [index, lines] of read.entries()) expect(lines, `cut after ${cuts[index]} bytes`).toEqual(short);
    }
  });

  test("when every connection brings one event, and then half of the next", async () => {
    const { session, server } = await attach((request, response) => {
      const from = Number(request.query.get("startIndex"));
      startStream(response);
      response.write(`${ENDED[from]}\n${ENDED[from + 1]?.slice(0, 20) ?? ""}`, () => response.socket!.destroySoon());
    });
    expect(await collectLines(session.stream())).toEqual(ENDED);
    expect(indexes(server)).toEqual(ENDED.map((_, index) => String(index)));
  });

  test("when leases end, without a pause between them", async () => {
    const { session, server } = await attach(
      (request, response) => {
        const from = Number(request.query.get("startIndex"));
        startStream(response);
        response.end(`${ENDED[from]}\n${LEASE_ENDED}`);
      },
      { reconnectDelayMs: 60_000 },
    );
    expect(await collectLines(session.stream())).toEqual(ENDED);
    expect(server.received.every(({ query }) => query.get("streamControlVersion") === "1")).toBe(true);
  });

  test("when the server falls silent: in the middle of the stream, before it, before its headers", async () => {
    const { session, server } = await attach(
      (request, response) => {
        if (request.nth === 0) return;
        if (request.nth === 1) return void response.writeHead(200, { "x-eve-stream-version": "26" }).flushHeaders();
        if (request.nth === 2) {
          startStream(response);
          return void response.write(`${ENDED[0]}\n${ENDED[1]}`);
        }
        streamLines(request, response, ENDED);
      },
      { silenceMs: 50 },
    );
    expect(await collectLines(session.stream())).toEqual(ENDED);
    expect(indexes(server)).toEqual(["0", "0", "0", "1"]);
    await vi.waitFor(() => expect(server.open).toBe(0));
  });

  test("when the server fails and recovers", async () => {
    const statuses = [500, 503, 502, 429, 408];
    const { session } = await attach((request, response) => {
      const status = statuses[request.nth];
      if (status === undefined) streamLines(request, response, ENDED);
      else answerJson(response, status, { ok: false, error: "Later." });
    });
    expect(await collectLines(session.stream())).toEqual(ENDED);
  });

  test("when the session is not ready yet", async () => {
    const { session } = await attach((request, response) => {
      if (request.nth > 0) streamLines(request, response, ENDED);
      else answerJson(response, 409, { ok: false, error: "Not yet.", code: "session_not_ready" });
    });
    expect(await collectLines(session.stream())).toEqual(ENDED);
  });

  test("when a bounded read is cut: it stops where the first connection said, whatever came since", async () => {
    let lines = ENDED.slice(0, 6);
    const { session, server } = await attach((request, response) => {
      if (request.nth > 0) return streamLines(request, response, lines);
      lines = ENDED;
      startStream(response, { "x-eve-stream-tail-index": "5" });
      response.write(`${ENDED[0]}\n${ENDED[1]}\n${ENDED[2]!.slice(0, 9)}`, () => response.socket!.destroySoon());
    });
    expect(await collectLines(session.stream({ follow: false }))).toEqual(ENDED.slice(0, 6));
    expect(indexes(server)).toEqual(["0", "2"]);
    expect(session.state).toEqual({ sessionId: "s", streamIndex: 6 });
  });

  test("when a read from the tail is cut", async () => {
    const { session, server } = await attach((request, response) => {
      if (request.nth > 0) return streamLines(request, response, ENDED);
      startStream(response, { "x-eve-stream-tail-index": String(ENDED.length - 1) });
      response.write(`${ENDED.at(-3)}\n`, () => response.socket!.destroySoon());
    });
    expect(await collectLines(session.stream({ startIndex: -3 }))).toEqual(ENDED.slice(-3));
    expect(indexes(server)).toEqual(["-3", String(ENDED.length - 2)]);
  });
});

describe("a stream", () => {
  test("is read from the cursor of the handle, which only goes on", async () => {
    const { session, server } = await attach((request, response) => streamLines(request, response, ENDED));
    for await (const _ of session.stream()) if (session.state.streamIndex === 4) break;
    expect(session.state.streamIndex).toBe(4);
    await collectLines(session.stream({ startIndex: -2 }));
    for await (const _ of session.stream({ startIndex: 0 })) break;
    expect(session.state.streamIndex).toBe(4);
    expect(await collectLines(session.stream())).toEqual(ENDED.slice(4));
    expect(session.state.streamIndex).toBe(ENDED.length);
    expect(indexes(server)).toEqual(["0", "-2", "0", "4"]);
  });

  test("ends with its session, also when nothing more was to come", async () => {
    const { session, server } = await attach((request, response) => streamLines(request, response, ENDED));
    expect(await collectLines(session.stream({ startIndex: ENDED.length }))).toEqual([]);
    expect(server.received.map(({ query }) => [query.get("startIndex"), query.get("follow")])).toEqual([
      [String(ENDED.length), null],
      ["-1", "false"],
    ]);
  });

  test("does not end with a connection that brought nothing while the session goes on", async () => {
    const waiting = ENDED.slice(0, -1);
    const { session } = await attach((request, response) => {
      const over = request.nth < 3 ? waiting : ENDED;
      streamLines(request, response, over);
    });
    expect(await collectLines(session.stream({ startIndex: waiting.length }))).toEqual(ENDED.slice(-1));
  });

  test("that is bounded returns at once when there is nothing", async () => {
    const { session, server } = await attach((request, response) => streamLines(request, response, []));
    expect(await collectLines(session.stream({ follow: false }))).toEqual([]);
    expect(await collectLines(session.stream({ follow: false, startIndex: -5 }))).toEqual([]);
    expect(server.received.length).toBe(2);
  });

  test("skips what a server says to its clients and this one does not know", async () => {
    const { session } = await attach((_, response) => {
      startStream(response);
      response.end(`{"$eve":"something.new"}\n\r\n${ENDED.join("\n")}\n`);
    });
    expect(await collectLines(session.stream())).toEqual(ENDED);
  });

  test("gives up after so many failures in a row, and says why", async () => {
    const { session, server } = await attach((_, response) => void response.socket!.destroy(), {
      maxReconnectAttempts: 3,
    });
    await expect(collectLines(session.stream())).rejects.toMatchObject({
      code: "stream_interrupted",
      cause: { code: "unreachable" },
    });
    expect(server.received.length).toBe(4);
  });

  test("counts failures anew after an event or a heartbeat, and not after a blank line that only opens it", async () => {
    const { session, server } = await attach(
      (request, response) => {
        if (request.nth % 2 === 0 || request.nth > 6) return void response.socket!.destroy();
        startStream(response);
        const life = request.nth % 4 === 1 ? "\n" : `${ENDED[Number(request.query.get("startIndex"))]}\n`;
        response.write(life, () => response.socket!.destroySoon());
      },
      { maxReconnectAttempts: 2 },
    );
    expect(await codeOf(collectLines(session.stream()))).toBe("stream_interrupted");
    expect(server.received.length).toBe(8);

    const silent = await attach((_, response) => (startStream(response), response.socket!.destroySoon()), {
      maxReconnectAttempts: 2,
    });
    expect(await codeOf(collectLines(silent.session.stream()))).toBe("stream_interrupted");
    expect(silent.server.received.length).toBe(3);
  });

  test.each([
    [400, "BAD_REQUEST"],
    [401, "UNAUTHORIZED"],
    [404, "NOT_FOUND"],
    [410, "session_expired"],
  ])("fails at once when it is refused with %i", async (status, code) => {
    const { session, server } = await attach((_, response) => answerJson(response, status, { ok: false, code }));
    await expect(collectLines(session.stream())).rejects.toMatchObject({ status, code });
    expect(server.received.length).toBe(1);
  });

  test.each([
    ["missing", {}],
    ["24", { "x-eve-stream-version": "24" }],
    ["27", { "x-eve-stream-version": "27" }],
  ])("fails at once when its version is %s", async (version, headers) => {
    const { session, server } = await attach((_, response) => void response.writeHead(200, headers).write("\n"));
    await expect(collectLines(session.stream())).rejects.toThrow(`x-eve-stream-version is ${version}`);
    await expect(collectLines(session.stream())).rejects.toMatchObject({ code: "unsupported_stream" });
    expect(server.received.length).toBe(2);
    await vi.waitFor(() => expect(server.open).toBe(0));
  });

  test("of the version before is read", async () => {
    const { session } = await attach((_, response) => {
      response.writeHead(200, { "x-eve-stream-version": "25" }).end(`${ENDED.join("\n")}\n`);
    });
    expect(await collectLines(session.stream())).toEqual(ENDED);
  });

  test("fails when a version changes with a reconnect", async () => {
    const { session } = await attach((request, response) => {
      startStream(response, request.nth === 0 ? {} : { "x-eve-stream-version": "31" });
      response.write(`${ENDED[request.nth]}\n`, () => response.socket!.destroySoon());
    });
    expect(await codeOf(collectLines(session.stream()))).toBe("unsupported_stream");
  });

  test("can not be bounded by a server that does not say where it ends", async () => {
    const { session } = await attach((_, response) => startStream(response));
    expect(await codeOf(collectLines(session.stream({ follow: false })))).toBe("unsupported_stream");
    expect(await codeOf(collectLines(session.stream({ startIndex: -1 })))).toBe("unsupported_stream");
  });

  test.each(["<html>", "5", "null", "{}", '{"data":{}}'])("fails at once on a line that is %s", async (line) => {
    const { session, server } = await attach((_, response) => {
      startStream(response);
      response.end(`${line}\n`);
    });
    expect(await codeOf(collectLines(session.stream()))).toBe("invalid_event");
    expect(server.received.length).toBe(1);
  });

  test("lets go of its connection when the reader does", async () => {
    const { session, server } = await attach((_, response) => {
      startStream(response);
      response.write(`${ENDED[0]}\n`);
    });
    for await (const _ of session.stream()) break;
    await vi.waitFor(() => expect(server.open).toBe(0));
    expect(server.received.length).toBe(1);
  });

  test("throws the reason of an abort: while it waits, between events, and before it reconnects", async () => {
    const reason = new Error("enough");
    const { session, server } = await attach(
      (request, response) => {
        if (request.query.get("startIndex") === "1") return void response.socket!.destroy();
        startStream(response);
        response.write(`${ENDED.slice(0, 3).join("\n")}\n`);
      },
      { reconnectDelayMs: 60_000 },
    );
    const waiting = new AbortController();
    let read = 0;
    const reading = (async () => {
      for await (const _ of session.stream({ startIndex: 0, signal: waiting.signal })) {
        if (++read === 3) setImmediate(() => waiting.abort(reason));
      }
    })();
    await expect(reading).rejects.toBe(reason);

    const between = new AbortController();
    await expect(
      (async () => {
        for await (const _ of session.stream({ startIndex: 0, signal: between.signal })) between.abort(reason);
      })(),
    ).rejects.toBe(reason);

    const pausing = new AbortController();
    const paused = expect(collectLines(session.stream({ startIndex: 1, signal: pausing.signal }))).rejects.toBe(reason);
    await vi.waitFor(() => expect(indexes(server)).toEqual(["0", "0", "1"]));
    pausing.abort(reason);
    await paused;
    await vi.waitFor(() => expect(server.open).toBe(0));
    await expect(collectLines(session.stream({ signal: AbortSignal.abort(reason) }))).rejects.toBe(reason);
  });

  test("a slow reader is no silence", async () => {
    const { session, server } = await attach((request, response) => streamLines(request, response, ENDED), {
      silenceMs: 30,
    });
    const read: string[] = [];
    for await (const event of session.stream()) {
      read.push(JSON.stringify(event));
      if (read.length === 1) {
        // Three times as long as a server may be silent.
        const begun = performance.now();
        await vi.waitFor(() => expect(performance.now() - begun).toBeGreaterThan(90));
      }
    }
    expect(read).toEqual(ENDED);
    expect(server.received.length).toBe(1);
  });
});
