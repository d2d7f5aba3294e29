import { describe, expect, test, vi } from "vitest";
import { BASE, createTestApp, hanging, saying, type TestApp, type TestAppOptions } from "./app.fixture.ts";
import type { Host } from "../engine/ports.ts";
import { eventSchema, EVENT_SCHEMAS, type StreamEvent } from "../protocol/events.ts";

async function finished(options: TestAppOptions = {}): Promise<TestApp & { sessionId: string; all: StreamEvent[] }> {
  const app = await createTestApp({ perform: saying("hi"), ...options });
  const sessionId = await app.create();
  return { ...app, sessionId, all: await app.until(sessionId, "session.waiting") };
}

const lines = (text: string): StreamEvent[] =>
  text.split("\n").flatMap((line) => (line === "" ? [] : [JSON.parse(line) as StreamEvent]));

/** Reads a followed stream until `enough`, then lets go of it. */
async function follow(response: Response, enough: (text: string) => boolean): Promise<string> {
  let text = "";
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
  while (!enough(text)) {
    const { done, value } = await reader.read();
    if (done) break;
    text += value;
  }
  await reader.cancel();
  return text;
}

/** Lets the host say of a session that it was swept: what sweeps is behind the port. */
function sweep(host: Host, sessionId: string): void {
  const { head } = host;
  vi.spyOn(host, "head").mockImplementation(async (id) => {
    const found = await head(id);
    return found === undefined || id !== sessionId ? found : { ...found, swept: true };
  });
}

/** How many listen to the host from now on. */
function countListeners(host: Host): () => number {
  let listening = 0;
  const { subscribe } = host;
  vi.spyOn(host, "subscribe").mockImplementation((id, listener) => {
    const stop = subscribe(id, listener);
    listening++;
    return () => {
      listening--;
      stop();
    };
  });
  return () => listening;
}

const LEASE_ENDED = '{"$eve":"stream.lease-ended","version":1}\n';

describe("GET session/:id/stream", () => {
  test("PROTOCOL: headers", async () => {
    const { get, sessionId } = await finished();
    const { headers } = await get(`/session/${sessionId}/stream?follow=false`);
    expect(Object.fromEntries(headers)).toMatchObject({
      "content-type": "application/x-ndjson; charset=utf-8",
      "cache-control": "no-store, no-transform",
      "x-accel-buffering": "no",
      "x-eve-session-id": sessionId,
      "x-eve-stream-format": "ndjson",
      "x-eve-stream-version": "26",
      "x-eve-stream-tail-index": "7",
    });
  });

  test("PROTOCOL: every line is an event of the schema, with one id each", async () => {
    const { get, sessionId } = await finished();
    const events = lines(await (await get(`/session/${sessionId}/stream?follow=false`)).text());
    for (const event of events) {
      eventSchema.parse(event);
      EVENT_SCHEMAS[event.type].parse(event.data);
    }
    expect(new Set(events.map(({ meta }) => meta.id)).size).toBe(events.length);
  });

  test.each([
    ["startIndex=0", 8],
    ["startIndex=5", 3],
    ["startIndex=8", 0],
    ["startIndex=99", 0],
    ["startIndex=-2", 2],
    ["startIndex=-99", 8],
  ])("PROTOCOL: %s reads %i of 8 events", async (query, count) => {
    const { get, sessionId, all } = await finished();
    const events = lines(await (await get(`/session/${sessionId}/stream?follow=false&${query}`)).text());
    expect(events).toEqual(count === 0 ? [] : all.slice(-count));
  });

  test.each(["x", "1.5", "", "1e3", "--1"])("startIndex=%j is 400 and names the field", async (value) => {
    const { get, sessionId } = await finished();
    const response = await get(`/session/${sessionId}/stream?follow=false&startIndex=${value}`);
    expect([response.status, (await response.json()).error]).toEqual([400, expect.stringContaining("startIndex")]);
  });

  test("PROTOCOL: a followed stream opens with a blank line, before the first event", async () => {
    const { post, get } = await createTestApp({ perform: saying("hi") });
    const { sessionId } = await (await post("/session", {})).json();
    expect(await follow(await get(`/session/${sessionId}/stream`), (text) => text !== "")).toBe("\n");
  });

  test("PROTOCOL: includeTailIndex=1 names the tail of a followed stream", async () => {
    const { get, sessionId } = await finished();
    const response = await get(`/session/${sessionId}/stream?includeTailIndex=1`);
    expect(response.headers.get("x-eve-stream-tail-index")).toBe("7");
    await response.body!.cancel();
  });

  test("a followed stream goes on with what comes, and ends with the session", async () => {
    const { get, post, sessionId } = await finished();
    const response = await get(`/session/${sessionId}/stream?startIndex=8`);
    await post(`/session/${sessionId}`, { message: "more" });
    await post(`/session/${sessionId}/reset`, {});
    const events = lines(await response.text());
    expect(events[0]!.type).toBe("turn.started");
    expect(events.at(-1)!.type).toBe("session.completed");
  });

  test("HEAD answers the headers and leaves nothing behind", async () => {
    const { app, host, sessionId } = await finished();
    const subscribe = vi.spyOn(host, "subscribe");
    const response = await app.request(`${BASE}/session/${sessionId}/stream?includeTailIndex=1`, {
      method: "HEAD",
      headers: { "x-user": "ada" },
    });
    expect([response.status, response.body]).toEqual([200, null]);
    expect(response.headers.get("x-eve-stream-tail-index")).toBe("7");
    expect(subscribe).not.toHaveBeenCalled();
  });

  test("a stream listens from its first read to its end", async () => {
    const { get, host, sessionId } = await finished();
    const listening = countListeners(host);
    const response = await get(`/session/${sessionId}/stream`);
    await new Promise((resolve) => setImmediate(resolve));
    expect(listening()).toBe(0);
    await follow(response, (text) => {
      if (text.length > 1) expect(listening()).toBe(1);
      return text.length > 1;
    });
    expect(listening()).toBe(0);
  });

  test("two readers get the same bytes", async () => {
    const { get, sessionId } = await finished();
    const read = async (): Promise<string> => (await get(`/session/${sessionId}/stream?follow=false`)).text();
    expect(await read()).toBe(await read());
  });

  test("PROTOCOL: an unknown session is 404", async () => {
    const { get } = await createTestApp({ perform: hanging });
    const response = await get("/session/ses_unknown/stream");
    expect([response.status, await response.json()]).toEqual([
      404,
      { ok: false, error: expect.any(String), code: "NOT_FOUND" },
    ]);
  });

  test("PROTOCOL: a session that was swept is 410, to its owner only", async () => {
    const { app, get, host, sessionId } = await finished();
    sweep(host, sessionId);
    for (const query of ["", "?follow=false", "?startIndex=-1"]) {
      const response = await get(`/session/${sessionId}/stream${query}`);
      expect([response.status, await response.json()]).toEqual([
        410,
        { ok: false, error: expect.any(String), code: "session_expired" },
      ]);
      expect(response.headers.get("cache-control")).toBe("no-store");
    }
    const head = await app.request(`${BASE}/session/${sessionId}/stream`, {
      method: "HEAD",
      headers: { "x-user": "ada" },
    });
    expect(head.status).toBe(410);
    expect((await get(`/session/${sessionId}/stream`, { as: "bob" })).status).toBe(404);
  });

  test("a followed stream ends when its session is swept", async () => {
    const { get, host, post, sessionId } = await finished();
    const response = await get(`/session/${sessionId}/stream?startIndex=8`);
    const text = response.text();
    sweep(host, sessionId);
    await post(`/session/${sessionId}`, { message: "more" });
    await text;
  });

  test("an ended session can still be read", async () => {
    const { get, post, until, sessionId } = await finished();
    await post(`/session/${sessionId}/reset`, {});
    await until(sessionId, "session.completed");
    expect(lines(await (await get(`/session/${sessionId}/stream`)).text()).at(-1)!.type).toBe("session.completed");
  });
});

describe("PROTOCOL: a lease", () => {
  test("ends a followed stream with a line that says so, for who asked", async () => {
    const { get, post, sessionId, all } = await finished({ leaseMs: 20 });
    const path = `/session/${sessionId}/stream`;
    const others = ["", "?streamControlVersion=2"].map(async (query) => (await get(`${path}${query}`)).text());
    const text = await (await get(`${path}?streamControlVersion=1&startIndex=3`)).text();
    expect(text.endsWith(`\n${LEASE_ENDED}`)).toBe(true);
    expect(lines(text).slice(0, -1)).toEqual(all.slice(3));

    // The stream itself goes on, at the cursor, and nobody else was told.
    const next = await get(`${path}?streamControlVersion=1&startIndex=${all.length}`);
    await post(`/session/${sessionId}/reset`, {});
    expect(lines(await next.text()).map(({ type }) => type)).toEqual(["session.completed"]);
    for (const other of await Promise.all(others)) {
      expect(other).not.toContain("$eve");
      expect(lines(other).at(-1)!.type).toBe("session.completed");
    }
  });

  test("is not for a stream that ends by itself", async () => {
    const bounded = await finished({ leaseMs: 0 });
    const path = (sessionId: string): string => `/session/${sessionId}/stream?streamControlVersion=1`;
    expect(await (await bounded.get(path(bounded.sessionId))).text()).toBe(`\n${LEASE_ENDED}`);
    const read = await (await bounded.get(`${path(bounded.sessionId)}&follow=false`)).text();
    expect(lines(read)).toEqual(bounded.all);

    const ended = await finished();
    await ended.post(`/session/${ended.sessionId}/reset`, {});
    const whole = lines(await (await ended.get(path(ended.sessionId))).text());
    expect(whole.map(({ type }) => type)).toEqual([...ended.all.map(({ type }) => type), "session.completed"]);
  });

  test("leaves nothing behind that listens", async () => {
    const { get, host, sessionId } = await finished({ leaseMs: 20 });
    const listening = countListeners(host);
    await (await get(`/session/${sessionId}/stream?streamControlVersion=1`)).text();
    expect([listening(), vi.mocked(host.subscribe).mock.calls.length]).toEqual([0, 1]);
  });
});
