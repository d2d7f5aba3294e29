import { expect, onTestFinished, test, vi } from "vitest";
import type { EffectInput, ResolvedCall } from "../engine/input.ts";
import type { Perform } from "../engine/ports.ts";
import { BASE, createTestApp, saying, type TestApp } from "./app.fixture.ts";

const askPeer: readonly ResolvedCall[] = [
  {
    callId: "c1",
    name: "peer",
    input: { message: "go" },
    target: { kind: "remote", remote: { name: "peer", source: "subagents/peer.ts" }, description: "" },
  },
];

/** Asks the peer, which accepts at once, and waits for it. */
const delegating: Perform = async (effect, context) => {
  if (effect.kind === "model") {
    const said = (await saying("thanks")(effect, context)) as Extract<EffectInput, { kind: "model.responded" }>;
    return context.state.turn!.stepIndex === 0 ? { ...said, text: "", calls: askPeer } : said;
  }
  if (effect.kind === "send") {
    const { taskId, call } = effect;
    const accepted = { remoteSessionId: "ses_far", deliveryId: "d", url: "http://far.invalid" };
    return { kind: "remote.accepted", taskId, callId: call.callId, ...accepted };
  }
  return new Promise((resolve) => context.signal.addEventListener("abort", () => resolve(undefined)));
};

type Fetch = (request: Request) => Promise<Response>;

async function relaying(answer: Fetch): Promise<TestApp & { path: string; asked: ReturnType<typeof vi.fn<Fetch>> }> {
  const asked = vi.fn(answer);
  vi.stubGlobal("fetch", asked);
  onTestFinished(() => void vi.unstubAllGlobals());
  const app = await createTestApp({ perform: delegating, env: { EVE_PEER_FAR_URL: "http://far.invalid" } });
  const sessionId = await app.create();
  await app.until(sessionId, "agent.started");
  return { ...app, asked, path: `/session/${sessionId}/subagents/c1/ses_far/stream` };
}

test("what the remote streams is relayed, from where the reader asks", async () => {
  const { get, path, asked } = await relaying(async () => new Response("\n{}\n"));
  expect(await (await get(`${path}?startIndex=-2&other=x`)).text()).toBe("\n{}\n");
  expect(asked.mock.calls[0]![0].url).toBe("http://far.invalid/eve/far/v1/session/ses_far/stream?startIndex=-2");
});

test.each(["x", "1.5", ""])("PROTOCOL: startIndex=%s is 400, without asking the remote", async (value) => {
  const { get, path, asked } = await relaying(async () => new Response("\n"));
  const response = await get(`${path}?startIndex=${value}`);
  expect([response.status, (await response.json()).error]).toEqual([400, expect.stringContaining("startIndex")]);
  expect(asked).not.toHaveBeenCalled();
});

test("HEAD does not open the remote's stream", async () => {
  const { app, path, asked } = await relaying(async () => new Response("\n"));
  const response = await app.request(`${BASE}${path}`, { method: "HEAD", headers: { "x-user": "ada" } });
  expect([response.status, response.headers.get("x-eve-session-id")]).toEqual([200, "ses_far"]);
  expect(asked).not.toHaveBeenCalled();
});

test("PROTOCOL: a lease is asked of the remote, and its end is passed on", async () => {
  const end = '\n{"$eve":"stream.lease-ended","version":1}\n';
  const { get, path, asked } = await relaying(async () => new Response(end));
  expect(await (await get(`${path}?streamControlVersion=1`)).text()).toBe(end);
  expect(new URL(asked.mock.calls[0]![0].url).search).toBe("?streamControlVersion=1");
});

test.each([
  [404, 404, "NOT_FOUND"],
  [410, 410, "session_expired"],
  [401, 502, "REMOTE_FAILED"],
  [500, 502, "REMOTE_FAILED"],
])("a remote's %i is %i to the reader", async (status, answered, code) => {
  const { get, path } = await relaying(async () => new Response("{}", { status }));
  const response = await get(path);
  expect([response.status, (await response.json()).code]).toEqual([answered, code]);
});

test("the child of a session that was swept is 410", async () => {
  const { get, host, path, asked } = await relaying(async () => new Response("\n"));
  const { head } = host;
  vi.spyOn(host, "head").mockImplementation(async (id) => {
    const found = await head(id);
    return found && { ...found, swept: true };
  });
  const response = await get(path);
  expect([response.status, (await response.json()).code]).toEqual([410, "session_expired"]);
  expect(asked).not.toHaveBeenCalled();
});
