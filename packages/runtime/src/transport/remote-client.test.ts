import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, expect, onTestFinished, test } from "vitest";
import { AgentError } from "../errors.ts";
import type { RemoteAddress } from "./address.ts";
import {
  createRemoteSession,
  postCallback,
  readRemoteStream,
  sendToRemoteSession,
  stopRemoteSession,
} from "./remote-client.ts";

interface Seen {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingMessage["headers"];
  readonly body: string;
}

type Answer = (response: ServerResponse, request: Seen) => void;

/** A real server on the loopback interface. */
async function listen(answer: Answer): Promise<{ seen: Seen[]; address: RemoteAddress; origin: string }> {
  const seen: Seen[] = [];
  const server = createServer(async (request, response) => {
    let body = "";
    for await (const chunk of request) body += chunk;
    const entry = { method: request.method!, path: request.url!, headers: request.headers, body };
    seen.push(entry);
    answer(response, entry);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const headers = async () => ({ authorization: "Bearer token" });
  return { seen, origin, address: { sessions: `${origin}/base/eve/far/v1/session`, url: `${origin}/base`, headers } };
}

const json =
  (status: number, body: unknown): Answer =>
  (response) =>
    void response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
const text =
  (status: number, body: string, headers = {}): Answer =>
  (response) =>
    void response.writeHead(status, headers).end(body);
const signal = (): AbortSignal => new AbortController().signal;
const accepted = { ok: true, sessionId: "ses_far", status: "accepted", deliveryId: "del_1" };

describe("create", () => {
  test("PROTOCOL: what is sent", async () => {
    const { seen, address } = await listen(json(202, { ...accepted, protocolVersion: 2 }));
    const got = await createRemoteSession({ address, signal: signal() }, { message: "go", operationId: "op" });
    expect(got).toEqual({ sessionId: "ses_far", deliveryId: "del_1" });
    expect(seen).toMatchObject([
      {
        method: "POST",
        path: "/base/eve/far/v1/session",
        headers: { authorization: "Bearer token", "content-type": "application/json" },
      },
    ]);
    expect(JSON.parse(seen[0]!.body)).toEqual({
      message: "go",
      operationId: "op",
      capabilities: { requestInput: true },
      protocolVersion: 2,
    });
  });

  test.each([
    ["not JSON", text(200, "<html>")],
    ["empty", text(202, "")],
    ["without a session", json(202, { ok: true })],
    ["with an empty session id", json(202, { sessionId: "" })],
    ["with an endless session id", json(202, { sessionId: "s".repeat(257) })],
    [
      "cut off",
      (response: ServerResponse) =>
        void (
          response.writeHead(202, { "content-length": "100" }).write('{"sess'),
          setTimeout(() => response.destroy(), 20)
        ),
    ],
  ] as const)("§10.3 a 2xx whose body is %s may have run: UNCERTAIN_OUTCOME, not again", async (_, answer) => {
    const { address } = await listen(answer);
    await expect(createRemoteSession({ address, signal: signal() }, {})).rejects.toMatchObject({
      code: "UNCERTAIN_OUTCOME",
      retryable: false,
    });
  });

  test.each([
    [2, true],
    [1, true],
    [3, true],
    [4, false],
    [0, false],
  ])("§10.3 an answer of version %i is served: %s", async (protocolVersion, served) => {
    const { address } = await listen(json(202, { ...accepted, protocolVersion }));
    const result = createRemoteSession({ address, signal: signal() }, {});
    if (served) await expect(result).resolves.toBeDefined();
    else
      await expect(result).rejects.toMatchObject({
        code: "PROTOCOL_MISMATCH",
        message: expect.stringContaining(String(protocolVersion)),
      });
  });

  test.each([
    [500, true],
    [502, true],
    [503, true],
    [429, true],
    [408, true],
    [400, false],
    [401, false],
    [403, false],
    [404, false],
    [409, false],
    [413, false],
  ])("%i is worth another try: %s", async (status, retryable) => {
    const { address } = await listen(json(status, { ok: false, error: "because", code: "X" }));
    await expect(createRemoteSession({ address, signal: signal() }, {})).rejects.toMatchObject({
      code: "REMOTE_FAILED",
      status,
      retryable,
      message: `The remote answered ${status}: because`,
    });
  });

  test.each([301, 302, 303, 307, 308])("§10.5 a %i is not followed, and no credential leaves", async (status) => {
    const other = await listen(json(202, accepted));
    const { address } = await listen(text(status, "", { location: `${other.origin}/eve/far/v1/session` }));
    await expect(createRemoteSession({ address, signal: signal() }, {})).rejects.toMatchObject({
      status,
      retryable: false,
    });
    expect(other.seen).toEqual([]);
  });

  test("nobody there is worth another try, and the message has no credential", async () => {
    const { address } = await listen(json(202, accepted));
    const dead = { ...address, sessions: "http://127.0.0.1:9/eve/v1/session", url: "http://127.0.0.1:9/secret-path" };
    const failure = await createRemoteSession({ address: dead, signal: signal() }, {}).catch((error: unknown) => error);
    expect(failure).toMatchObject({
      code: "REMOTE_FAILED",
      retryable: true,
      message: expect.stringMatching(/^The remote at http:..127.0.0.1:9 can not be reached: \w+\.$/),
    });
    expect(String(failure)).not.toMatch(/token|secret-path/);
  });

  test("credentials that can not be made fail with their own code, before any request", async () => {
    const { seen, address } = await listen(json(202, accepted));
    const headers = async () => {
      throw new AgentError("NO_TRANSPORT", "The outbound token is empty.");
    };
    await expect(createRemoteSession({ address: { ...address, headers }, signal: signal() }, {})).rejects.toMatchObject(
      { code: "NO_TRANSPORT" },
    );
    expect(seen).toEqual([]);
  });

  test.each([
    ["a header", { headers: async () => ({ authorization: "Bearer hunter2\nx" }) }],
    ["a URL", { sessions: "http://ada:hunter2@127.0.0.1:9/eve/v1/session" }],
  ])("%s that no request can have fails at once and is not repeated", async (_, wrong) => {
    const { seen, address } = await listen(json(202, accepted));
    const request = { address: { ...address, ...wrong }, signal: signal() };
    for (const attempt of [createRemoteSession(request, {}), readRemoteStream(request, "s")]) {
      const failure = await attempt.catch((error: unknown) => error);
      expect(failure).toMatchObject({ code: "REMOTE_FAILED", retryable: false });
      expect(String(failure)).not.toContain("hunter2");
    }
    expect(seen).toEqual([]);
  });

  test("what authored credentials throw does not show", async () => {
    const { address } = await listen(json(202, accepted));
    const headers = async (): Promise<never> => {
      throw new Error("hunter2 has expired");
    };
    const failure = await createRemoteSession({ address: { ...address, headers }, signal: signal() }, {}).catch(
      (error: unknown) => error,
    );
    expect(failure).toMatchObject({ code: "REMOTE_FAILED", retryable: true });
    expect(String(failure)).not.toContain("hunter2");
  });

  test("an aborted request ends", async () => {
    const controller = new AbortController();
    const { address } = await listen(() => controller.abort());
    await expect(createRemoteSession({ address, signal: controller.signal }, {})).rejects.toThrow();
  });
});

describe("§10.2 ids in URLs", () => {
  test.each([
    ["a/b", "a%2Fb"],
    ["../admin", "..%2Fadmin"],
    ["a?x=1#y", "a%3Fx%3D1%23y"],
    ["%2e%2e", "%252e%252e"],
    ["é ", "%C3%A9%20"],
    ["...", "..."],
  ])("%j is sent as %s", async (id, encoded) => {
    const { seen, address } = await listen(json(202, accepted));
    await sendToRemoteSession({ address, signal: signal() }, id, { message: "x" });
    await stopRemoteSession({ address, signal: signal() }, id, "cancel");
    expect(seen.map(({ path }) => path)).toEqual([
      `/base/eve/far/v1/session/${encoded}`,
      `/base/eve/far/v1/session/${encoded}/cancel`,
    ]);
  });

  test.each([".", "..", ""])("%j is refused without a fetch, for every verb, and not tried again", async (id) => {
    const { seen, address } = await listen(json(202, accepted));
    const request = { address, signal: signal() };
    for (const verb of [
      () => sendToRemoteSession(request, id, {}),
      () => stopRemoteSession(request, id, "reset"),
      () => readRemoteStream(request, id),
    ]) {
      await expect(verb()).rejects.toMatchObject({ code: "REMOTE_FAILED", retryable: false });
    }
    expect(seen).toEqual([]);
  });
});

describe("callbacks", () => {
  test.each([202, 404, 410])("%i is an answer", async (status) => {
    const { origin } = await listen(json(status, {}));
    await expect(postCallback(`${origin}/callback/t`, {}, signal())).resolves.toBeUndefined();
  });

  test("carry no credential", async () => {
    const { seen, origin } = await listen(json(202, {}));
    await postCallback(`${origin}/callback/t`, {}, signal());
    expect(seen[0]!.headers.authorization).toBeUndefined();
  });

  test("a caller that is down is tried again", async () => {
    await expect(postCallback("http://127.0.0.1:9/callback/t", {}, signal())).rejects.toMatchObject({
      retryable: true,
    });
  });
});

describe("the stream", () => {
  const event = {
    type: "turn.started",
    data: { turnId: "turn_0", sequence: 0 },
    meta: { id: "evt_1", at: "2026-01-01T00:00:00Z" },
  };

  test("all events so far, blank lines left out", async () => {
    const { seen, address } = await listen(text(200, `\n${JSON.stringify(event)}\n\n${JSON.stringify(event)}\n`));
    expect(await readRemoteStream({ address, signal: signal() }, "ses_far")).toEqual([event, event]);
    expect(seen).toMatchObject([
      { method: "GET", path: "/base/eve/far/v1/session/ses_far/stream?startIndex=0&follow=false" },
    ]);
  });

  test("a stream that is cut off is worth another try", async () => {
    const { address } = await listen(
      (response) => void (response.writeHead(200).write('{"type":'), setTimeout(() => response.destroy(), 20)),
    );
    await expect(readRemoteStream({ address, signal: signal() }, "ses_far")).rejects.toMatchObject({
      code: "REMOTE_FAILED",
      retryable: true,
    });
  });

  test.each([
    ["says nothing", () => {}],
    ["stops in the middle", (response: ServerResponse) => void response.writeHead(200).write("\n")],
  ])("a stream that %s is given up in time, and worth another try", async (_, answer) => {
    const { address } = await listen(answer);
    await expect(readRemoteStream({ address, signal: signal() }, "ses_far", 50)).rejects.toMatchObject({
      code: "REMOTE_FAILED",
      retryable: true,
    });
  });

  test("a stream that is no NDJSON is not", async () => {
    const { address } = await listen(text(200, "<html>hello</html>"));
    await expect(readRemoteStream({ address, signal: signal() }, "ses_far")).rejects.toMatchObject({
      code: "REMOTE_FAILED",
      retryable: false,
    });
  });

  test("a redirect is not followed", async () => {
    const other = await listen(text(200, ""));
    const { address } = await listen(text(302, "", { location: other.origin }));
    await expect(readRemoteStream({ address, signal: signal() }, "ses_far")).rejects.toMatchObject({ status: 302 });
    expect(other.seen).toEqual([]);
  });

  test("credentials that can not be made fail with their own code", async () => {
    const { address } = await listen(text(200, ""));
    const headers = async () => {
      throw new AgentError("NO_TRANSPORT", "The outbound token is empty.");
    };
    await expect(readRemoteStream({ address: { ...address, headers }, signal: signal() }, "s")).rejects.toMatchObject({
      code: "NO_TRANSPORT",
    });
  });
});
