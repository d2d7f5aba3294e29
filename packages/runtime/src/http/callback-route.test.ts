import { describe, expect, onTestFinished, test, vi } from "vitest";
import type { EffectInput, ResolvedCall } from "../engine/input.ts";
import type { Perform } from "../engine/ports.ts";
import { createCallbackTokens } from "../transport/callback-token.ts";
import { BASE, createTestApp, saying, type TestApp } from "./app.fixture.ts";

const ENV = { EVE_PEER_FAR_URL: "http://far.invalid" };

const askPeer: readonly ResolvedCall[] = [
  {
    callId: "c1",
    name: "peer",
    input: { message: "go" },
    target: { kind: "remote", remote: { name: "peer", source: "subagents/peer.ts" }, description: "" },
  },
];

/** Asks the peer in the first step of a turn, waits for it, then answers. The peer accepts at once, if `accepts`. */
function delegating({ accepts = true } = {}): Perform {
  return async (effect, context) => {
    if (effect.kind === "model") {
      const said = (await saying("thanks")(effect, context)) as Extract<EffectInput, { kind: "model.responded" }>;
      return context.state.turn!.stepIndex === 0 ? { ...said, text: "", calls: askPeer } : said;
    }
    if (effect.kind === "send" && accepts) {
      return {
        kind: "remote.accepted",
        taskId: effect.taskId,
        callId: effect.call.callId,
        remoteSessionId: "ses_far",
        deliveryId: "d",
        url: "http://far.invalid",
      };
    }
    return new Promise((resolve) => context.signal.addEventListener("abort", () => resolve(undefined)));
  };
}

async function waiting(options?: { accepts?: boolean }): Promise<TestApp & { sessionId: string; token: string }> {
  const app = await createTestApp({ perform: delegating(options), env: ENV });
  const sessionId = await app.create();
  await app.until(sessionId, options?.accepts === false ? "task.started" : "agent.started");
  await app.until(sessionId, "turn.waiting");
  return { ...app, sessionId, token: app.tokens.create({ sessionId, turnId: "turn_0", callId: "c1" }) };
}

const outcome = (kind: "succeeded" | "failed" | "cancelled", output = "42") => ({
  kind: kind === "succeeded" ? "turn.completed" : "turn.failed",
  callId: "c1",
  sessionId: "ses_far",
  subagentName: "peer",
  ...(kind === "succeeded" ? { output } : { error: { code: "BROKE", message: "it broke" } }),
  outcome: { kind: "parked", result: { kind, ...(kind === "succeeded" ? { output } : {}) }, usageDelta: {} },
});

async function call(app: TestApp, token: string, body: unknown = outcome("succeeded")): Promise<number> {
  const response = await app.app.request(`${BASE}/callback/${token}`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  return response.status;
}

describe("POST callback/:token", () => {
  test("PROTOCOL: 202, without credentials, and the call settles with the reply", async () => {
    const app = await waiting();
    expect(await call(app, app.token)).toBe(202);
    const events = await app.until(app.sessionId, "turn.completed");
    expect(events.find(({ type }) => type === "task.settled")?.data).toMatchObject({
      callId: "c1",
      status: "completed",
      output: "42",
    });
  });

  test.each([
    ["failed", { error: { message: "it broke" } }],
    ["cancelled", { cancel: { reason: "turn_cancelled" } }],
  ] as const)("a turn that %s settles the call so", async (status, data) => {
    const app = await waiting();
    await call(app, app.token, outcome(status));
    const events = await app.until(app.sessionId, "task.settled");
    expect(events.find(({ type }) => type === "task.settled")?.data).toMatchObject({ status, ...data });
  });

  test("PROTOCOL: the same callback again answers 202 and changes nothing", async () => {
    const app = await waiting();
    await call(app, app.token);
    const before = await app.until(app.sessionId, "session.waiting");
    expect(await call(app, app.token)).toBe(202);
    expect(await app.events(app.sessionId)).toHaveLength(before.length);
  });

  test("a callback that comes before the remote's answer names the child", async () => {
    const app = await waiting({ accepts: false });
    expect(await call(app, app.token)).toBe(202);
    const events = await app.until(app.sessionId, "turn.completed");
    expect(events.find(({ type }) => type === "agent.started")?.data).toMatchObject({
      sessionId: "ses_far",
      remote: { url: "http://far.invalid" },
    });
  });
});

describe("a callback without its reply", () => {
  const hint = {
    ...outcome("succeeded"),
    output: undefined,
    outcome: { kind: "parked", result: { kind: "succeeded" } },
  };
  const line = (type: string, data: object, meta = {}): string => `${JSON.stringify({ type, data, meta })}\n`;
  const turn = { turnId: "turn_0", sequence: 0 };
  const working = line("message.received", { ...turn, message: "go", parts: [] }, { deliveryIds: ["d"] });
  const finished = line("message.completed", { ...turn, message: "long" }) + line("turn.completed", turn);

  test("sends its receiver to the stream", async () => {
    const app = await waiting();
    const read = vi.fn<(request: Request) => Promise<Response>>(async () => new Response(working + finished));
    vi.stubGlobal("fetch", read);
    onTestFinished(() => void vi.unstubAllGlobals());
    expect(await call(app, app.token, hint)).toBe(202);
    const events = await app.until(app.sessionId, "task.settled");
    expect(events.find(({ type }) => type === "task.settled")?.data).toMatchObject({ output: "long" });
    expect(read.mock.calls[0]![0].url).toBe(
      "http://far.invalid/eve/far/v1/session/ses_far/stream?startIndex=0&follow=false",
    );
  });

  test("is to be sent again when the stream does not have it either", async () => {
    const app = await waiting();
    vi.stubGlobal("fetch", async () => new Response(working));
    onTestFinished(() => void vi.unstubAllGlobals());
    expect(await call(app, app.token, hint)).toBe(502);
    expect((await app.events(app.sessionId)).some(({ type }) => type === "task.settled")).toBe(false);
    expect(await call(app, app.token)).toBe(202);
  });
});

describe("tokens", () => {
  test("forged, truncated, extended, of another store or empty: 404", async () => {
    const app = await waiting();
    const [payload, signature] = app.token.split(".") as [string, string];
    const other = Buffer.from(JSON.stringify([app.sessionId, "turn_0", "c2"])).toString("base64url");
    const forged = [
      `${other}.${signature}`,
      `${payload}.${"A".repeat(signature.length)}`,
      app.token.slice(0, -4),
      `${app.token}AAAA`,
      `${app.token}.x`,
      `${app.token}%3D`,
      payload,
      `.${signature}`,
      `${payload}.`,
      "x",
      createCallbackTokens("another secret").create({ sessionId: app.sessionId, turnId: "turn_0", callId: "c1" }),
    ];
    for (const token of forged) expect(await call(app, token), token).toBe(404);
    expect((await app.events(app.sessionId)).some(({ type }) => type === "task.settled")).toBe(false);
  });

  test("are not logged, also when the route breaks", async () => {
    const app = await waiting();
    vi.spyOn(app.host, "state").mockRejectedValue(new Error("disk full"));
    expect(await call(app, app.token)).toBe(500);
    expect(app.logged).toEqual([`POST ${BASE}/callback/:token failed: disk full`]);
  });

  test("of a session that is not there, of a call that is not, of a turn that is over: 404", async () => {
    const app = await waiting();
    const { sessionId } = app;
    for (const claim of [
      { sessionId: "ses_unknown", turnId: "turn_0", callId: "c1" },
      { sessionId, turnId: "turn_0", callId: "c9" },
      { sessionId, turnId: "turn_7", callId: "c1" },
    ]) {
      expect(await call(app, app.tokens.create(claim))).toBe(404);
    }
  });

  test("of another session: settles that one only", async () => {
    const app = await waiting();
    const other = await app.create();
    await app.until(other, "turn.waiting");
    expect(await call(app, app.tokens.create({ sessionId: other, turnId: "turn_0", callId: "c1" }))).toBe(202);
    await app.until(other, "task.settled");
    expect((await app.events(app.sessionId)).some(({ type }) => type === "task.settled")).toBe(false);
  });

  test("die with their session", async () => {
    const app = await waiting();
    await app.post(`/session/${app.sessionId}/reset`, {});
    await app.until(app.sessionId, "session.completed");
    expect(await call(app, app.token)).toBe(404);
  });

  test("of a call that was cancelled: 404, nobody waits for it", async () => {
    const app = await waiting();
    await app.post(`/session/${app.sessionId}/cancel`, {});
    await app.until(app.sessionId, "turn.cancelled");
    expect(await call(app, app.token)).toBe(404);
  });

  test("a body of the wrong shape is 400 and spends nothing", async () => {
    const app = await waiting();
    expect(await call(app, app.token, { kind: "turn.completed" })).toBe(400);
    expect(await call(app, app.token)).toBe(202);
  });

  test("what the body claims of another call is not believed", async () => {
    const app = await waiting();
    expect(await call(app, app.token, { ...outcome("succeeded"), callId: "c9" })).toBe(400);
    expect(await call(app, app.token, { ...outcome("succeeded"), subagentName: "other" })).toBe(400);
    expect(await call(app, app.token, { ...outcome("succeeded"), sessionId: "ses_elsewhere" })).toBe(202);
    const events = await app.until(app.sessionId, "task.settled");
    expect(events.find(({ type }) => type === "task.settled")?.data).toMatchObject({ callId: "c1" });
    expect(events.filter(({ type }) => type === "agent.started")).toMatchObject([{ data: { sessionId: "ses_far" } }]);
  });
});
