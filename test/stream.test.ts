import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { converse, eventsOf, ofType } from "./support/converse.ts";
import { followEvents, readLines } from "./support/event-reader.ts";
import type { Member } from "./support/member.ts";
import { postJson } from "./support/post-json.ts";
import { startWorkspace, type RunningWorkspace } from "./support/start-workspace.ts";

/** PROTOCOL, Routes: a client gives up after 15 s, a heartbeat comes at least every 10 s. */
const HEARTBEAT_MS = 10_000;

let workspace: RunningWorkspace;
let foreman: Member;
let research: Member;
let sessionId: string;
let url: string;
let lines: string[];

beforeAll(async () => {
  workspace = await startWorkspace();
  ({ foreman, research } = workspace);
  sessionId = await converse(foreman.api, "Ask research what a tide is");
  url = `${foreman.api}/session/${sessionId}/stream`;
  lines = await readLines(`${url}?follow=false`);
});
afterAll(() => workspace?.[Symbol.asyncDispose]());

describe("a stream", () => {
  test("has the headers of the protocol and starts with a blank line", async () => {
    const response = await fetch(`${url}?follow=false`);
    expect(response.status).toBe(200);
    expect(Object.fromEntries(response.headers)).toMatchObject({
      "content-type": "application/x-ndjson; charset=utf-8",
      "cache-control": "no-store, no-transform",
      "x-accel-buffering": "no",
      "x-eve-session-id": sessionId,
      "x-eve-stream-format": "ndjson",
      "x-eve-stream-version": "26",
      "x-eve-stream-tail-index": String(lines.length - 1),
    });
    expect(await response.text()).toBe(`\n${lines.join("\n")}\n`);
  });

  test.each<[string, (all: string[]) => string[]]>([
    ["startIndex=0", (all) => all],
    ["startIndex=5", (all) => all.slice(5)],
    ["startIndex=-1", (all) => all.slice(-1)],
    ["startIndex=-3", (all) => all.slice(-3)],
    ["startIndex=-1000", (all) => all],
    ["startIndex=1000", () => []],
  ])("%s", async (query, expected) => {
    expect(await readLines(`${url}?${query}&follow=false`)).toEqual(expected(lines));
  });

  test("that is followed says where its tail is when asked to", async () => {
    const stop = new AbortController();
    const tail = async (query: string) => {
      const response = await fetch(`${url}${query}`, { signal: stop.signal });
      return response.headers.get("x-eve-stream-tail-index");
    };
    expect(await tail("?includeTailIndex=1")).toBe(String(lines.length - 1));
    expect(await tail("")).toBeNull();
    stop.abort();
  });

  test("goes on from the reader's cursor, without a gap and without an event twice", async () => {
    const id = await converse(foreman.api, "Hello");
    await using first = followEvents(`${foreman.api}/session/${id}/stream`);
    await first.untilEvent("the pause", ({ event }) => event.type === "session.waiting");
    const cursor = first.events.length;
    await postJson(`${foreman.api}/session/${id}`, { message: "Hello again" });
    await first.untilEvent("the next pause", ({ event, index }) => event.type === "session.waiting" && index >= cursor);
    const rest = await readLines(`${foreman.api}/session/${id}/stream?startIndex=${cursor}&follow=false`);
    expect(first.events.map(({ line }) => line).slice(cursor)).toEqual(rest);
    expect(first.connections).toBe(1);
  });

  test("opens at once, also before the first event, and shows that it lives", { timeout: 30_000 }, async () => {
    const { body } = await postJson(`${foreman.api}/session`, {});
    const response = await fetch(`${foreman.api}/session/${String(body.sessionId)}/stream`);
    const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
    expect(await reader.read()).toEqual({ done: false, value: "\n" });
    const opened = performance.now();
    expect(await reader.read()).toEqual({ done: false, value: "\n" });
    expect(performance.now() - opened).toBeLessThan(HEARTBEAT_MS);
    await reader.cancel();
  });

  test("of a session that ended ends by itself", async () => {
    const id = await converse(foreman.api, "Hello");
    await postJson(`${foreman.api}/session/${id}/reset`, {});
    const read = await readLines(`${foreman.api}/session/${id}/stream`);
    expect(JSON.parse(read.at(-1)!)).toMatchObject({ type: "session.completed" });
  });
});

describe("the relay of a peer's stream", () => {
  const started = async () => ofType(await eventsOf(foreman.api, sessionId), "agent.started")[0]!.data;

  test("is the peer's own stream, from any index, with its tail", async () => {
    const { streamPath, sessionId: childId } = await started();
    const own = await readLines(`${research.api}/session/${childId}/stream?follow=false`);
    expect(await readLines(`${foreman.origin}${streamPath}?follow=false&startIndex=-2`)).toEqual(own.slice(-2));
    const response = await fetch(`${foreman.origin}${streamPath}?follow=false`);
    expect(response.headers.get("x-eve-session-id")).toBe(childId);
    expect(response.headers.get("x-eve-stream-tail-index")).toBe(String(own.length - 1));
    expect(await response.text()).toBe(`\n${own.join("\n")}\n`);
  });

  test("is 404 for a child or a call that the session did not record", async () => {
    const { callId, sessionId: childId } = await started();
    const path = (session: string, call: string, child: string) =>
      `${foreman.api}/session/${session}/subagents/${call}/${child}/stream?follow=false`;
    const { body } = await postJson(`${research.api}/session`, { message: "Hello" });
    const other = await converse(foreman.api, "Hello");
    const status = async (...parts: Parameters<typeof path>) => {
      const response = await fetch(path(...parts));
      await response.body?.cancel();
      return response.status;
    };
    expect(await status(sessionId, callId, childId)).toBe(200);
    expect(await status(sessionId, callId, String(body.sessionId))).toBe(404);
    expect(await status(other, callId, childId)).toBe(404);
    expect(await status(sessionId, "another-call", childId)).toBe(404);
  });

  test("says 502 while the peer is away, and nothing of where it is", async () => {
    const { streamPath } = await started();
    await research.kill();
    const response = await fetch(`${foreman.origin}${streamPath}?follow=false`);
    const text = await response.text();
    await research.start();
    expect(response.status).toBe(502);
    expect(JSON.parse(text)).toMatchObject({ ok: false, code: "REMOTE_FAILED" });
  });
});
