import { describe, expect, test, vi } from "vitest";
import { BEGIN, linesOf, startAgent, STEP, TURN, WAITING, type Agent } from "./agent.fixture.ts";
import { collectLines } from "./collect.fixture.ts";
import { Client } from "./index.ts";
import { answerJson, listen, startStream, streamLines, toLines, turnLines } from "./misbehaving-server.fixture.ts";

describe("a response", () => {
  test("is the turn that reads the message, from its beginning to where the session waits", async () => {
    const own = turnLines(1, "d", "Hello.");
    const { client } = await startAgent([...turnLines(0, "other", "Before."), ...own, ...turnLines(2, "e", "After.")]);
    const session = client.sessions.attach("s");
    const result = await (await session.send("?")).result();
    expect(linesOf(result)).toEqual(own);
    expect(result).toEqual({
      status: "waiting",
      message: "Hello.",
      data: undefined,
      error: undefined,
      events: expect.any(Array),
      sessionId: "s",
      turnId: "turn_1",
      inputRequests: [],
    });
    // What came before it was skipped, and what comes after it is still to be read.
    expect(session.state).toEqual({ sessionId: "s", streamIndex: 18 });
  });

  test("of a session that was just created begins with the session", async () => {
    const own = [...toLines(["session.started"]), ...turnLines(0, "d", "Hello.")];
    const { client, posts } = await startAgent(own);
    const { session, response } = await client.sessions.create({ message: "?" });
    expect([response.sessionId, response.deliveryId]).toEqual(["s", "d"]);
    expect(await collectLines(response)).toEqual(own);
    expect(session.state).toEqual({ sessionId: "s", streamIndex: own.length });
    expect(posts().map(({ path, body }) => [path, body])).toEqual([["/eve/v1/session", { message: "?" }]]);
  });

  test("of a message that joins a turn begins with the message, and ends with that turn", async () => {
    const running = [...BEGIN.slice(0, 1), ...toLines(["step.started", STEP], ["message.appended", STEP])];
    const joined = toLines(["message.received", TURN, "d"], ["step.started", { ...STEP, stepIndex: 1 }]);
    const { client } = await startAgent([...running, ...joined, ...WAITING]);
    expect(await collectLines(await client.sessions.attach("s").send("!"))).toEqual([...joined, ...WAITING]);
  });

  test("of a message that begins a turn with another shows both", async () => {
    const both = toLines(["turn.started", TURN], ["message.received", TURN, "c"], ["message.received", TURN, "d"]);
    const { client } = await startAgent([...WAITING, ...both, ...WAITING]);
    expect(await collectLines(await client.sessions.attach("s").send("!"))).toEqual([...both, ...WAITING]);
  });

  test("is found over connections that break, and follows what comes", async () => {
    const own = turnLines(1, "d", "Hello.");
    const server = await listen((request, response) => {
      if (request.method === "POST") return answerJson(response, 202, { sessionId: "s", deliveryId: "d" });
      const from = Number(request.query.get("startIndex"));
      startStream(response);
      response.write(`${own[from]}\n{"type":"mess`, () => response.socket!.destroySoon());
    });
    const client = new Client({ host: server.origin, reconnectDelayMs: 1 });
    const { response } = await client.sessions.create({ message: "?" });
    expect(linesOf(await response.result())).toEqual(own);
  });

  test("is looked for from where the handle was before the message was sent, whoever reads meanwhile", async () => {
    const agent = await startAgent(turnLines(0, "other", "Before."));
    const session = agent.client.sessions.attach("s", { streamIndex: agent.lines.length });
    const response = await session.send("?");
    agent.append(...turnLines(1, "d", "Hello."));
    for await (const event of session.stream()) if (event.type === "session.waiting") break;
    expect(session.state.streamIndex).toBe(18);
    expect((await response.result()).message).toBe("Hello.");
    expect(
      agent.server.received.filter(({ method }) => method === "GET").map(({ query }) => query.get("startIndex")),
    ).toEqual(["9", "9"]);
  });

  test("of a message that is sent again is that of the first time", async () => {
    const agent = await startAgent(turnLines(1, "d", "Hello."));
    const session = agent.client.sessions.attach("s");
    for (let time = 0; time < 2; time++) {
      expect((await (await session.send("?", { operationId: "once" })).result()).message).toBe("Hello.");
    }
  });

  test("can be read only once", async () => {
    const { client } = await startAgent([...BEGIN, ...WAITING]);
    const response = await client.sessions.attach("s").send("?");
    await response.result();
    await expect(response.result()).rejects.toThrow("only once");
    expect(() => response[Symbol.asyncIterator]()).toThrow("only once");
  });

  test("that is left early lets go of its connection, and the next message goes on from there", async () => {
    const agent = await startAgent([...BEGIN, ...toLines(["step.started", STEP])]);
    const session = agent.client.sessions.attach("s");
    for await (const event of await session.send("?")) if (event.type === "message.received") break;
    await vi.waitFor(() => expect(agent.server.open).toBe(0));
    expect(session.state.streamIndex).toBe(2);
  });

  test("uses the signal and the headers of its message for its stream, too", async () => {
    const agent = await startAgent(BEGIN);
    const stop = new AbortController();
    const options = { signal: stop.signal, headers: { "x-request": "1" } };
    const response = await agent.client.sessions.attach("s").send("?", options);
    const reason = new Error("enough");
    const failed = expect(response.result()).rejects.toBe(reason);
    await vi.waitFor(() => expect(agent.server.received.length).toBe(2));
    expect(agent.server.received.map(({ headers }) => headers["x-request"])).toEqual(["1", "1"]);
    stop.abort(reason);
    await failed;
  });

  test("without the name of its delivery is refused: its turn could not be told from others", async () => {
    const server = await listen((_, response) => answerJson(response, 202, { ok: true, sessionId: "s" }));
    const { sessions } = new Client({ host: server.origin });
    await expect(sessions.attach("s").send("?")).rejects.toMatchObject({ code: "invalid_response" });
    await expect(sessions.create({ message: "?" })).rejects.toMatchObject({ code: "invalid_response" });
    expect((await sessions.create()).session.state.sessionId).toBe("s");
  });
});

describe("an answer to questions", () => {
  const resolved = toLines(["input.resolved", { ...STEP, resolutions: [{ requestId: "a", outcome: "approved" }] }]);
  const rest = [...toLines(["message.completed", { ...STEP, message: "Done.", finishReason: "stop" }]), ...WAITING];

  test("is answered with the rest of the turn that asked", async () => {
    const before = [...BEGIN, ...toLines(["turn.waiting", { ...TURN, on: "input" }])];
    const agent = await startAgent([...before, ...resolved, ...rest]);
    const session = agent.client.sessions.attach("s", { streamIndex: before.length });
    const result = await (await session.respond([{ requestId: "a", optionId: "approve" }])).result();
    expect(linesOf(result)).toEqual([...resolved, ...rest]);
    expect(result).toMatchObject({ message: "Done.", turnId: "turn_1" });
    expect(agent.posts()[0]!.body).toEqual({ inputResponses: [{ requestId: "a", optionId: "approve" }] });
  });

  test("ends where the turn waits for the next answer", async () => {
    const wait = toLines(["turn.waiting", { ...TURN, on: "input" }]);
    const agent = await startAgent([...resolved, ...wait]);
    const result = await (await agent.client.sessions.attach("s").respond([{ requestId: "a" }])).result();
    expect(linesOf(result)).toEqual([...resolved, ...wait]);
  });

  test("passes over what others have answered", async () => {
    const others = toLines(["input.resolved", { ...STEP, resolutions: [{ requestId: "x", outcome: "answered" }] }]);
    const agent = await startAgent([...others, ...resolved, ...rest]);
    const result = await (await agent.client.sessions.attach("s").respond([{ requestId: "a" }])).result();
    expect(linesOf(result)).toEqual([...resolved, ...rest]);
  });
});

describe("a cancel", () => {
  const cancels = ({ posts }: Agent) =>
    posts()
      .filter(({ path }) => path.endsWith("/cancel"))
      .map(({ body }) => body);

  test("of a response that is being read names its turn", async () => {
    const agent = await startAgent([...BEGIN, ...toLines(["step.started", STEP])]);
    const response = await agent.client.sessions.attach("s").send("?");
    for await (const event of response) {
      if (event.type === "step.started") {
        expect(await response.cancel()).toEqual({ status: "accepted", sessionId: "s" });
        agent.append(...toLines(["turn.cancelled", TURN]), ...WAITING);
      }
    }
    expect(cancels(agent)).toEqual([{ turnId: "turn_1" }]);
  });

  test("of a response that nobody reads finds its turn by itself, and leaves the cursor", async () => {
    const agent = await startAgent([...turnLines(0, "other", "Before."), ...BEGIN]);
    const session = agent.client.sessions.attach("s");
    const response = await session.send("?");
    expect(await response.cancel()).toEqual({ status: "accepted", sessionId: "s" });
    expect([cancels(agent), session.state.streamIndex]).toEqual([[{ turnId: "turn_1" }], 0]);
    await vi.waitFor(() => expect(agent.server.open).toBe(0));
  });

  test("waits for a turn that has not begun, and never stops the one before", async () => {
    const agent = await startAgent(toLines(["turn.started", { turnId: "turn_0", sequence: 0 }]));
    const response = await agent.client.sessions.attach("s").send("?", { turnPolicy: "queue" });
    const cancelled = response.cancel();
    await vi.waitFor(() => expect(agent.server.received.length).toBe(2));
    expect(cancels(agent)).toEqual([]);
    agent.append(...WAITING, ...BEGIN);
    expect(await cancelled).toMatchObject({ status: "accepted" });
    expect(cancels(agent)).toEqual([{ turnId: "turn_1" }]);
  });

  test("of a message that nobody will read stops nothing", async () => {
    const agent = await startAgent(toLines(["session.completed"]));
    const response = await agent.client.sessions.attach("s").send("?");
    expect(await response.cancel()).toEqual({ status: "no_active_turn" });
    expect(cancels(agent)).toEqual([]);
  });
});

test("a retry is answered with what comes of it, also when the turn keeps its id", async () => {
  const before = [...BEGIN, ...toLines(["turn.failed", { ...TURN, code: "x", message: "x" }]), ...WAITING];
  const again = [...toLines(["message.completed", { ...STEP, message: "Now.", finishReason: "stop" }]), ...WAITING];
  const agent = await startAgent(before);
  const response = await agent.client.sessions.attach("s").retry();
  agent.append(...again);
  const result = await response.result();
  expect(linesOf(result)).toEqual(again);
  expect(result).toMatchObject({ message: "Now.", turnId: "turn_1", error: undefined });
});

test("a session that has ended without the turn is told, and not taken for its end", async () => {
  const agent = await listen((request, response) => {
    if (request.method === "POST") return answerJson(response, 202, { sessionId: "s", deliveryId: "d" });
    streamLines(request, response, toLines(["session.completed"]));
  });
  const session = new Client({ host: agent.origin, reconnectDelayMs: 1 }).sessions.attach("s", { streamIndex: 7 });
  const response = await session.send("?");
  await expect(response.result()).rejects.toMatchObject({ code: "stream_interrupted" });
});
