import { once } from "node:events";
import { createServer, request, type IncomingMessage, type RequestListener, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { isOfSession, openGate, type Gate, type GateState } from "./gate.ts";

const WAITING: GateState = { kind: "waiting", why: "It starts." };
const BROKEN = { error: "It does not build.", diagnostics: [] };

let gate: Gate;
let origin: string;
const servers: Server[] = [];

beforeEach(async () => {
  const port = await freePort();
  gate = await openGate({ host: "127.0.0.1", port }, WAITING, 300);
  origin = `http://127.0.0.1:${port}`;
});
afterEach(async () => {
  await gate.close();
  for (const server of servers.splice(0)) server.close().closeAllConnections();
});

/** A member that answers with `listener`. */
async function serve(listener: RequestListener): Promise<{ port: number; server: Server }> {
  const server = createServer(listener).listen(0, "127.0.0.1");
  servers.push(server);
  await once(server, "listening");
  return { port: (server.address() as AddressInfo).port, server };
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

async function ask(path: string, init?: RequestInit): Promise<{ status: number; body: Record<string, unknown> }> {
  const response = await fetch(origin + path, init);
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
}

const echo: RequestListener = async (incoming, response) => {
  response.setHeader("set-cookie", ["a=1", "b=2"]);
  response.end(JSON.stringify({ method: incoming.method, url: incoming.url, body: await text(incoming) }));
};

describe("a gate", () => {
  it("passes requests on as they are", async () => {
    gate.set({ kind: "serving", port: (await serve(echo)).port });
    const response = await fetch(`${origin}/eve/v1/session?a=%20`, { method: "POST", body: "hello" });
    expect(await response.json()).toEqual({ method: "POST", url: "/eve/v1/session?a=%20", body: "hello" });
    expect(response.headers.getSetCookie()).toEqual(["a=1", "b=2"]);
  });

  it("lets requests wait for a member that starts", async () => {
    const asked = ask("/x", { method: "POST", body: "early" });
    gate.set({ kind: "waiting", why: "Still." });
    gate.set({ kind: "serving", port: (await serve(echo)).port });
    expect(await asked).toMatchObject({ status: 200, body: { body: "early" } });
  });

  it("lets them wait not longer than its patience", async () => {
    expect(await ask("/x")).toEqual({
      status: 503,
      body: { ok: false, error: "It starts.", code: "MEMBER_UNAVAILABLE", diagnostics: [] },
    });
  });

  it("sends what did not reach a process that is gone to the next one", async () => {
    gate.set({ kind: "serving", port: await freePort() });
    const asked = ask("/x", { method: "POST", body: "again" });
    await new Promise((resolve) => setImmediate(resolve));
    gate.set({ kind: "serving", port: (await serve(echo)).port });
    expect(await asked).toMatchObject({ status: 200, body: { body: "again" } });
  });

  it("does not repeat a message that a process took with it, but repeats a read", async () => {
    const { port } = await serve((incoming) => incoming.socket.destroy());
    gate.set({ kind: "serving", port });
    expect(await ask("/x", { method: "POST", body: "once" })).toMatchObject({
      status: 503,
      body: { error: expect.stringContaining("ended while") },
    });
    const read = ask("/x");
    await new Promise((resolve) => setImmediate(resolve));
    gate.set({ kind: "serving", port: (await serve(echo)).port });
    expect(await read).toMatchObject({ status: 200 });
  });

  it("while broken lets only requests about sessions through, if there is a process for them", async () => {
    gate.set({ kind: "broken", reason: BROKEN, sessions: { kind: "serving", port: (await serve(echo)).port } });
    expect(await ask("/eve/v1/session/ses_1", { method: "POST", body: "" })).toMatchObject({ status: 200 });
    expect(await ask("/eve/v1/session", { method: "POST", body: "x" })).toMatchObject({ status: 503, body: BROKEN });
    expect(await ask("/eve/v1/health")).toMatchObject({ status: 503 });
    gate.set({ kind: "broken", reason: BROKEN });
    expect(await ask("/eve/v1/session/ses_1")).toMatchObject({ status: 503 });
  });

  it("while broken lets requests about sessions wait for a process that starts, and no others", async () => {
    gate.set({ kind: "broken", reason: BROKEN, sessions: WAITING });
    const answer = ask("/eve/v1/session/ses_1");
    expect(await ask("/eve/v1/health")).toMatchObject({ status: 503, body: BROKEN });
    gate.set({ kind: "broken", reason: BROKEN, sessions: { kind: "serving", port: (await serve(echo)).port } });
    expect(await answer).toMatchObject({ status: 200 });
  });

  it("holds no byte of a stream back, and ends it for the member when the client goes", async () => {
    const closed = vi.fn();
    const { port } = await serve((_, response) => {
      response.writeHead(200, { "content-type": "application/x-ndjson" });
      response.write("1\n");
      response.on("close", closed);
    });
    gate.set({ kind: "serving", port });
    const outgoing = request(`${origin}/stream`).end();
    const [incoming] = (await once(outgoing, "response")) as [IncomingMessage];
    const [chunk] = (await once(incoming, "data")) as [Buffer];
    expect(chunk.toString()).toBe("1\n");
    outgoing.destroy();
    await vi.waitFor(() => expect(closed).toHaveBeenCalled());
  });

  it("cuts a stream whose process is gone, so that the client comes again", async () => {
    const { port, server } = await serve((_, response) => void response.write("1\n"));
    gate.set({ kind: "serving", port });
    const response = await fetch(`${origin}/stream`);
    server.closeAllConnections();
    await expect(response.text()).rejects.toThrow();
  });

  it("says who is in the way", async () => {
    const { port } = await serve(echo);
    await expect(openGate({ host: "127.0.0.1", port }, WAITING)).rejects.toMatchObject({ code: "PORT_IN_USE" });
  });
});

describe("isOfSession", () => {
  it.each([
    ["/eve/v1/session/ses_1", true],
    ["/eve/foreman/v1/session/ses_1/stream?startIndex=0", true],
    ["/eve/v1/callback/token", true],
    ["/eve/v1/webhook/token", true],
    ["/eve/v1/session", false],
    ["/eve/v1/session/", false],
    ["/eve/v1/session?next=/v1/session/x", false],
    ["/eve/v1/health", false],
    ["/eve/v1/info", false],
  ])("%s: %s", (url, expected) => expect(isOfSession(url)).toBe(expected));
});
