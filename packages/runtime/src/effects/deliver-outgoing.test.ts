import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { startTurn, ADA } from "../engine/session.fixture.ts";
import type { Outgoing } from "../engine/state.ts";
import { deliverOutgoing } from "./deliver-outgoing.ts";
import { FAR_MEMBER } from "./far-member.fixture.ts";

const SECOND = 1_000;

beforeEach(() => void vi.useFakeTimers());
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

test.each(["cancel", "reset", "callback"] as const)("a %s reaches a peer that is away for a minute", async (kind) => {
  const { settled, tries } = deliver(kind, { awayMs: 60 * SECOND });
  await vi.advanceTimersByTimeAsync(59 * SECOND);
  expect(settled()).toBe(false);
  await vi.advanceTimersByTimeAsync(40 * SECOND);
  expect(settled()).toBe(true);
  expect(tries.at(-1)!.status).toBe(202);
});

test("a cancel, which a follow-up waits for, arrives within seconds of the peer's return", async () => {
  const { settled } = deliver("cancel", { awayMs: 60 * SECOND });
  await vi.advanceTimersByTimeAsync(65 * SECOND);
  expect(settled()).toBe(true);
});

test.each([
  ["cancel", 2],
  ["reset", 10],
  ["callback", 10],
] as const)("a %s to a peer that is gone is given up after %i minutes", async (kind, minutes) => {
  const { settled, tries } = deliver(kind, { awayMs: Number.POSITIVE_INFINITY });
  await vi.advanceTimersByTimeAsync((minutes * 60 - 60) * SECOND);
  expect(settled()).toBe(false);
  await vi.advanceTimersByTimeAsync(61 * SECOND);
  expect(settled()).toBe(true);
  expect(tries.length).toBeLessThan(40);
});

test("a callback that is too large is sent without the reply, once", async () => {
  const bodies: unknown[] = [];
  vi.stubGlobal("fetch", async (request: Request) => {
    bodies.push(await request.json());
    return new Response("{}", { status: bodies.length === 1 ? 413 : 202 });
  });
  const outcome = { kind: "parked", usageDelta: {} };
  const body = {
    kind: "turn.completed",
    output: "long",
    outcome: { ...outcome, result: { kind: "succeeded", output: "long" } },
  };
  const settled = await deliverOutgoing(FAR_MEMBER, { ...outgoingOf("callback"), body } as Outgoing, {
    state: startTurn().state,
    signal: new AbortController().signal,
    steered: new AbortController().signal,
    interrupted: false,
    stream: () => {},
  });
  expect(settled).toEqual({ kind: "outgoing.done", id: "out" });
  expect(bodies).toEqual([body, { kind: "turn.completed", outcome: { ...outcome, result: { kind: "succeeded" } } }]);
});

test("a peer that refuses is not asked again", async () => {
  const { settled, tries } = deliver("cancel", { status: 404 });
  await vi.advanceTimersByTimeAsync(SECOND);
  expect([settled(), tries.length]).toEqual([true, 1]);
});

function deliver(
  kind: Outgoing["kind"],
  { awayMs = 0, status = 202 },
): { settled: () => boolean; tries: { readonly url: string; readonly status: number }[] } {
  const start = Date.now();
  const tries: { readonly url: string; readonly status: number }[] = [];
  vi.stubGlobal("fetch", async (url: string) => {
    const answer = Date.now() - start < awayMs ? 503 : status;
    tries.push({ url, status: answer });
    return new Response("{}", { status: answer });
  });
  let done = false;
  const signal = new AbortController().signal;
  void deliverOutgoing(FAR_MEMBER, outgoingOf(kind), {
    state: startTurn().state,
    signal,
    steered: signal,
    interrupted: false,
    stream: () => {},
  }).then((settled) => {
    expect(settled).toEqual({ kind: "outgoing.done", id: "out" });
    done = true;
  });
  return { settled: () => done, tries };
}

function outgoingOf(kind: Outgoing["kind"]): Outgoing {
  if (kind === "callback") return { id: "out", kind, url: "http://caller.invalid/callback/t", token: "t", body: {} };
  const remote = { name: "far", source: "subagents/far.ts" };
  return { id: "out", kind, remote, remoteSessionId: "ses_far", principal: ADA };
}
