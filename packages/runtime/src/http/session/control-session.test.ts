import { describe, expect, test } from "vitest";
import { scriptedModel } from "../../testing/scripted-model.ts";
import { createTestApp, hanging, saying } from "../app.fixture.ts";

describe("POST session/:id/compact and /clear", () => {
  test.each(["compact", "clear"])("PROTOCOL: %s of a session that never started is no_active_session", async (verb) => {
    const { post } = await createTestApp({ perform: hanging });
    const { sessionId } = await (await post("/session", {})).json();
    for (const id of [sessionId, "ses_unknown"]) {
      const response = await post(`/session/${id}/${verb}`);
      expect([response.status, await response.json()]).toEqual([200, { status: "no_active_session" }]);
    }
  });

  test("§16 clear forgets the history, and says so between two turns", async () => {
    const model = scriptedModel([
      { text: "one" },
      { text: "two", expect: ({ options }) => expect(JSON.stringify(options.prompt)).not.toContain("remember") },
    ]);
    const { post, create, until } = await createTestApp({ model });
    const sessionId = await create("remember 7");
    await until(sessionId, "session.waiting");
    const response = await post(`/session/${sessionId}/clear`);
    expect([response.status, await response.json()]).toEqual([202, { ok: true, sessionId, status: "accepted" }]);
    const events = await until(sessionId, "session.waiting", 2);
    expect(events.slice(-2).map(({ type }) => type)).toEqual(["context.cleared", "session.waiting"]);
    await post(`/session/${sessionId}`, { message: "what was it?" });
    await until(sessionId, "session.waiting", 3);
    model.assertConsumed();
  });

  test("§16 compact lets the model write what it goes on with", async () => {
    const model = scriptedModel([
      { text: "one" },
      { text: "the number is 7" },
      {
        text: "7",
        expect: ({ options }) => {
          const prompt = JSON.stringify(options.prompt);
          expect(prompt).toContain("the number is 7");
          expect(prompt).not.toContain("remember");
        },
      },
    ]);
    const { post, create, until } = await createTestApp({ model });
    const sessionId = await create("remember 7");
    await until(sessionId, "session.waiting");
    expect((await post(`/session/${sessionId}/compact`, {})).status).toBe(202);
    const events = await until(sessionId, "session.waiting", 2);
    expect(events.slice(-3).map(({ type }) => type)).toEqual([
      "compaction.requested",
      "compaction.completed",
      "session.waiting",
    ]);
    await post(`/session/${sessionId}`, { message: "what was it?" });
    await until(sessionId, "session.waiting", 3);
    model.assertConsumed();
  });

  test("§16 behind a turn under way, and before the message that waits", async () => {
    const { post, create, until } = await createTestApp({ perform: saying("ok") });
    const sessionId = await create("hello");
    await until(sessionId, "session.waiting");
    await Promise.all([
      post(`/session/${sessionId}`, { message: "more", turnPolicy: "queue" }),
      post(`/session/${sessionId}/clear`),
    ]);
    await until(sessionId, "context.cleared");
    const events = await until(sessionId, "turn.completed", 2);
    expect(events.filter(({ type }) => type === "turn.started")).toHaveLength(2);
  });
});

describe("POST session/:id/retry", () => {
  test("§16 does the failed turn again, once, however often it is asked for", async () => {
    const refused = { error: { message: "overloaded", retryable: false } };
    const model = scriptedModel([refused, { text: "this time" }]);
    const { post, create, until } = await createTestApp({ model });
    const sessionId = await create("hello");
    await until(sessionId, "session.waiting");
    const answers = await Promise.all([post(`/session/${sessionId}/retry`), post(`/session/${sessionId}/retry`)]);
    expect(answers.map(({ status }) => status)).toEqual([202, 202]);
    const body = { ok: true, sessionId, status: "accepted", turnId: "turn_1" };
    expect(await answers[0]!.json()).toEqual(body);
    const events = await until(sessionId, "session.waiting", 2);
    expect(events.find(({ type, data }) => type === "turn.started" && "retryOf" in data)?.data).toEqual({
      turnId: "turn_1",
      sequence: 1,
      retryOf: "turn_0",
    });
    expect(events.filter(({ type }) => type === "message.received")).toHaveLength(1);
    const again = await post(`/session/${sessionId}/retry`);
    expect([again.status, (await again.json()).code]).toEqual([409, "NOTHING_TO_RETRY"]);
    model.assertConsumed();
  });

  test("a turn that did not fail, another one and a stranger's are refused", async () => {
    const { post, create, until } = await createTestApp({ perform: saying("ok") });
    const sessionId = await create("hello");
    await until(sessionId, "session.waiting");
    const code = async (body: unknown, as?: string): Promise<string> =>
      (await (await post(`/session/${sessionId}/retry`, body, as === undefined ? {} : { as })).json()).code;
    expect(await code({})).toBe("NOTHING_TO_RETRY");
    expect(await code({ turnId: "turn_7" })).toBe("NOTHING_TO_RETRY");
    expect(await code({}, "mallory")).toBe("session_not_active");
  });
});

describe("what goes with a message", () => {
  test("outputSchema: the reply is checked, the model corrected, and the value shown", async () => {
    const model = scriptedModel([
      { text: "seven", expect: ({ options }) => expect(options.responseFormat).toMatchObject({ type: "json" }) },
      { text: '{"n":"7"}' },
      { text: '{"n":7}' },
      {
        text: "plain",
        expect: ({ options }) => expect(options.responseFormat ?? { type: "text" }).toEqual({ type: "text" }),
      },
    ]);
    const { post, until, events } = await createTestApp({ model });
    const outputSchema = { type: "object", properties: { n: { type: "number" } }, required: ["n"] };
    const { sessionId } = await (await post("/session", { message: "seven?", outputSchema })).json();
    await until(sessionId, "session.waiting");
    const seen = await events(sessionId);
    expect(seen.filter(({ type }) => type === "result.completed").map(({ data }) => data)).toEqual([
      { turnId: "turn_0", sequence: 0, stepIndex: 2, result: { n: 7 } },
    ]);
    await post(`/session/${sessionId}`, { message: "now in words" });
    await until(sessionId, "session.waiting", 2);
    model.assertConsumed();
  });

  test("outputSchema: a schema that is none is a bad request", async () => {
    const { post } = await createTestApp({ perform: hanging });
    const response = await post("/session", { message: "x", outputSchema: { type: "nonsense" } });
    expect([response.status, (await response.json()).error]).toEqual([400, expect.stringMatching(/^outputSchema: /)]);
  });

  test.each(["clientContext", "outputSchema"])("%s without a message is a bad request", async (field) => {
    const { post } = await createTestApp({ perform: hanging });
    const response = await post("/session", { [field]: { type: "object" } });
    expect([response.status, (await response.json()).error]).toEqual([400, expect.stringContaining(field)]);
  });

  test("clientContext is there for its turn, and for no other", async () => {
    const shown = ({ options }: { options: { prompt: unknown } }): boolean =>
      JSON.stringify(options.prompt).includes("/billing");
    const model = scriptedModel([
      { calls: [{ name: "add", input: { a: 1, b: 2 } }], expect: (request) => expect(shown(request)).toBe(true) },
      { text: "3", expect: (request) => expect(shown(request)).toBe(true) },
      { text: "bye", expect: (request) => expect(shown(request)).toBe(false) },
    ]);
    const { post, until } = await createTestApp({ model });
    const { sessionId } = await (
      await post("/session", { message: "add", clientContext: { route: "/billing" } })
    ).json();
    await until(sessionId, "session.waiting");
    await post(`/session/${sessionId}`, { message: "bye" });
    const events = await until(sessionId, "session.waiting", 2);
    expect(JSON.stringify(events)).not.toContain("/billing");
    model.assertConsumed();
  });
});
