import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import type { Effect } from "../engine/decide.ts";
import type { EffectInput } from "../engine/input.ts";
import { startTurn } from "../engine/session.fixture.ts";
import type { CallLimits } from "../engine/state.ts";
import { FAR_MEMBER } from "./far-member.fixture.ts";
import type { Member } from "./perform.ts";
import { watchLimits } from "./watch-limits.ts";

beforeEach(() => void vi.useFakeTimers({ now: 1_000_000 }));
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

describe("§6.11 the deadline of a call", () => {
  test("ends it at that time, and not before", async () => {
    const { settled } = watch({ limits: { deadline: Date.now() + 5_000 } });
    await vi.advanceTimersByTimeAsync(4_999);
    expect(settled()).toBeUndefined();
    await vi.advanceTimersByTimeAsync(1);
    expect(settled()).toEqual({ kind: "call.overdue", taskId: "worker-1", callId: "c1", code: "TASK_TIMEOUT" });
  });

  test("that passed while no process was there ends it at once", async () => {
    const { settled } = watch({ limits: { deadline: Date.now() - 1 } });
    await vi.advanceTimersByTimeAsync(0);
    expect(settled()).toMatchObject({ code: "TASK_TIMEOUT" });
  });

  test("may be further off than a timer reaches", async () => {
    const { settled } = watch({ limits: { deadline: Date.now() + 40 * 86_400_000 } });
    await vi.advanceTimersByTimeAsync(40 * 86_400_000 - 1);
    expect(settled()).toBeUndefined();
    await vi.advanceTimersByTimeAsync(1);
    expect(settled()).toMatchObject({ code: "TASK_TIMEOUT" });
  });

  test("of a call that is settled meanwhile leaves no timer", async () => {
    const { settled, stop } = watch({ limits: { deadline: Date.now() + 5_000, silenceMs: 10 } });
    stop();
    await vi.advanceTimersByTimeAsync(0);
    expect([settled(), vi.getTimerCount()]).toEqual(["stopped", 0]);
  });

  test("comes also while the child shows events", async () => {
    const { settled } = watch({
      limits: { deadline: Date.now() + 2_500, silenceMs: 1_000 },
      lastEventAt: async () => Date.now(),
    });
    await vi.advanceTimersByTimeAsync(2_500);
    expect(settled()).toMatchObject({ code: "TASK_TIMEOUT" });
  });
});

describe("§6.11 the silence of a child here", () => {
  test("ends the call so long after its last event", async () => {
    const events = [300, 1_100, 2_000].map((ms) => Date.now() + ms);
    const lastEventAt = async (): Promise<number | undefined> => events.findLast((at) => at <= Date.now());
    const { settled } = watch({ limits: { silenceMs: 1_000 }, lastEventAt });
    await vi.advanceTimersByTimeAsync(2_999);
    expect(settled()).toBeUndefined();
    await vi.advanceTimersByTimeAsync(1);
    expect(settled()).toMatchObject({ code: "TASK_SILENT" });
  });

  test("is counted anew after a restart: what was before it was no silence of the child's", async () => {
    const { settled } = watch({ limits: { silenceMs: 1_000 }, lastEventAt: async () => Date.now() - 60_000 });
    await vi.advanceTimersByTimeAsync(999);
    expect(settled()).toBeUndefined();
    await vi.advanceTimersByTimeAsync(1);
    expect(settled()).toMatchObject({ code: "TASK_SILENT" });
  });

  test("a child that nobody knows is silent", async () => {
    const { settled } = watch({ limits: { silenceMs: 1_000 } });
    await vi.advanceTimersByTimeAsync(1_000);
    expect(settled()).toMatchObject({ code: "TASK_SILENT" });
  });
});

describe("§6.11 the silence of a child at a remote", () => {
  const line = (id: string): string => `${JSON.stringify({ type: "x", data: {}, meta: { id, at: "1999-01-01" } })}\n\n`;

  test("is told by its last event, whatever the remote's clock says", async () => {
    const urls: string[] = [];
    const answers = ["evt_1", "evt_2", "evt_2"];
    vi.stubGlobal("fetch", async (request: Request | string) => {
      urls.push(typeof request === "string" ? request : request.url);
      return new Response(line(answers[urls.length - 1]!));
    });
    const { settled } = watch({ limits: { silenceMs: 1_000 }, remote: true });
    await vi.advanceTimersByTimeAsync(2_999);
    expect(settled()).toBeUndefined();
    await vi.advanceTimersByTimeAsync(1);
    expect(settled()).toMatchObject({ code: "TASK_SILENT" });
    expect(urls[0]).toMatch(/\/session\/ses_child\/stream\?startIndex=-1&follow=false$/);
  });

  test.each([
    ["does not know the session", async () => new Response('{"ok":false}', { status: 404 })],
    ["has no event of it", async () => new Response("\n")],
    ["says what is no event", async () => new Response("<html>")],
    ["is not there", async () => Promise.reject(new TypeError("fetch failed"))],
  ])("a remote that %s is silent", async (_, answer) => {
    vi.stubGlobal("fetch", answer);
    const { settled } = watch({ limits: { silenceMs: 1_000 }, remote: true });
    await vi.advanceTimersByTimeAsync(1_000);
    expect(settled()).toMatchObject({ code: "TASK_SILENT" });
  });

  test("before its session is known it is silent", async () => {
    const { settled } = watch({ limits: { silenceMs: 1_000 }, remote: true, childSessionId: undefined });
    await vi.advanceTimersByTimeAsync(1_000);
    expect(settled()).toMatchObject({ code: "TASK_SILENT" });
  });
});

interface Watched {
  readonly limits: CallLimits;
  readonly remote?: boolean;
  readonly childSessionId?: string | undefined;
  readonly lastEventAt?: Member["lastEventAt"];
}

function watch(watched: Watched): { settled: () => EffectInput | "stopped" | undefined; stop: () => void } {
  const { limits, remote = false, lastEventAt = async () => undefined } = watched;
  const effect: Extract<Effect, { kind: "limit" }> = {
    id: "limit:worker-1:c1",
    kind: "limit",
    taskId: "worker-1",
    callId: "c1",
    remote: remote ? { name: "far", source: "subagents/far.ts" } : undefined,
    childSessionId: "childSessionId" in watched ? watched.childSessionId : "ses_child",
    limits,
  };
  const controller = new AbortController();
  const context = {
    state: startTurn().state,
    signal: controller.signal,
    steered: new AbortController().signal,
    interrupted: false,
    stream: () => {},
  };
  let result: EffectInput | "stopped" | undefined;
  void watchLimits({ ...FAR_MEMBER, lastEventAt }, effect, context).then((input) => (result = input ?? "stopped"));
  return { settled: () => result, stop: () => controller.abort() };
}
