import { expect, test, vi } from "vitest";
import type { EffectContext, Perform } from "../../engine/ports.ts";
import { calling, message, opening, reply, responded } from "./perform.fixture.ts";
import { all, replies, until } from "./read-events.fixture.ts";
import type { Suite } from "./world.fixture.ts";

/** Messages and controls that reach a turn under way (§16). */
export function testSteering({ newWorld, open, crash }: Suite): void {
  test("steering: a message before any output aborts the model call, and nothing of that is seen", async () => {
    // Text that is not shown yet stays so: time stands still.
    vi.useFakeTimers({ toFake: ["setTimeout"] });
    try {
      let first: AbortSignal | undefined;
      const host = await open(await newWorld(), async (_effect, context) => {
        if (first !== undefined) return responded("the second");
        first = context.signal;
        say(context, "the first");
        await until(host, context.state.sessionId, "step.started");
        await host.deliver(context.state.sessionId, "d1", message("d1", "no, wait"));
        await aborted(context.signal);
        return responded("the first");
      });
      const { sessionId } = await host.open({ input: opening("hi") });
      const events = await until(host, sessionId, "session.waiting");
      expect(events.map(({ type }) => type).slice(2)).toEqual([
        "message.received",
        "step.started",
        "message.received",
        "step.started",
        "message.completed",
        "step.completed",
        "turn.completed",
        "session.waiting",
      ]);
      expect(await replies(host, sessionId, 1)).toEqual(["the second"]);
    } finally {
      vi.useRealTimers();
    }
  });

  test("steering: what the model thinks is no output", async () => {
    let asked = 0;
    const host = await open(await newWorld(), async (_effect, context) => {
      if (++asked > 1) return responded("ok");
      think(context, "hm");
      await aborted(context.signal);
      return undefined;
    });
    const { sessionId } = await host.open({ input: opening("hi") });
    await until(host, sessionId, "reasoning.appended");
    await host.deliver(sessionId, "d1", message("d1", "no, wait"));
    expect(await replies(host, sessionId, 1)).toEqual(["ok"]);
    expect(asked).toBe(2);
  });

  test("steering: a message after the first text waits for the step's end", async () => {
    let release = (): void => {};
    const released = new Promise<void>((resolve) => (release = resolve));
    const host = await open(await newWorld(), async (_effect, context) => {
      const { stepIndex, attempt } = context.state.turn!;
      if (stepIndex > 0) return responded(`step ${stepIndex}`);
      say(context, "so");
      await released;
      return responded(`so, attempt ${attempt}`);
    });
    const { sessionId } = await host.open({ input: opening("hi") });
    await until(host, sessionId, "message.appended");
    await host.deliver(sessionId, "d1", message("d1", "and this?"));
    expect((await host.state(sessionId))?.queue).toHaveLength(1);
    release();
    expect(await replies(host, sessionId, 1)).toEqual(["so, attempt 1", "step 1"]);
  });

  test("steering: a running tool hears of a message, and its result counts", async () => {
    const host = await open(await newWorld(), async (effect, { state, signal, steered }) => {
      if (effect.kind === "model") return state.turn!.stepIndex === 0 ? calling(["slow", "quick"]) : responded("ok");
      if (effect.kind !== "tool") return undefined;
      const { callId } = effect.call;
      if (callId === "slow") await aborted(steered);
      return { kind: "tool.settled", callId, status: "completed", output: `${callId}, wanted: ${!signal.aborted}` };
    });
    const { sessionId } = await host.open({ input: opening("hi") });
    await until(host, sessionId, "action.result");
    await host.deliver(sessionId, "d1", message("d1", "enough"));
    const events = await until(host, sessionId, "session.waiting");
    const results = events.flatMap((event) => (event.type === "action.result" ? [event.data.result.output] : []));
    expect(results).toEqual(["quick, wanted: true", "slow, wanted: true"]);
    const types = events.map(({ type }) => type);
    expect(types.lastIndexOf("message.received")).toBeGreaterThan(types.lastIndexOf("action.result"));
  });

  test("steering: a tool that a crash stopped meanwhile is told, when it is run again", async () => {
    const world = await newWorld();
    const signals: AbortSignal[] = [];
    const begun: { readonly steered: boolean; readonly interrupted: boolean }[] = [];
    const perform =
      (hang: boolean): Perform =>
      async (effect, context) => {
        if (effect.kind === "model") return context.state.turn!.stepIndex === 0 ? calling(["t1"]) : responded("ok");
        signals.push(context.steered);
        begun.push({ steered: context.steered.aborted, interrupted: context.interrupted });
        if (hang || effect.kind !== "tool") return new Promise(() => {});
        return { kind: "tool.settled", callId: effect.call.callId, status: "completed", output: 1 };
      };
    const before = await open(world, perform(true));
    const { sessionId } = await before.open({ input: opening("hi") });
    await until(before, sessionId, "step.completed");
    await before.deliver(sessionId, "d1", message("d1", "enough"));
    await aborted(signals[0]!);
    await crash(world, before);
    const after = await open(world, perform(false));
    await until(after, sessionId, "session.waiting");
    expect(begun).toEqual([
      { steered: false, interrupted: false },
      { steered: true, interrupted: true },
    ]);
  });

  test("controls: what was asked for behind a turn is done after a crash, too, and a summary that it stopped", async () => {
    const world = await newWorld();
    const hangs: Perform = () => new Promise(() => {});
    const first = await open(world, hangs);
    const { sessionId } = await first.open({ input: opening("hi") });
    await until(first, sessionId, "step.started");
    await first.deliver(sessionId, "c1", { kind: "compact" });
    await first.deliver(sessionId, "d1", message("d1", "later", "queue"));
    await crash(world, first);
    const answers = reply(() => "ok");
    const second = await open(world, (effect, context) => (effect.kind === "model" ? answers : hangs)(effect, context));
    await until(second, sessionId, "compaction.requested");
    await crash(world, second);
    let shortened = 0;
    const third = await open(world, async (effect, context) => {
      if (effect.kind !== "compact") return answers(effect, context);
      shortened++;
      return { kind: "compaction.finished", summary: "short", usage: context.state.usage };
    });
    await replies(third, sessionId, 3);
    expect(shortened).toBe(1);
    const { history } = (await third.state(sessionId))!;
    expect(history.map(({ role }) => role)).toEqual(["note", "user", "assistant"]);
    expect((await all(third, sessionId)).filter(({ type }) => type.startsWith("compaction"))).toHaveLength(2);
  });
}

function say({ state, stream }: EffectContext, messageDelta: string): void {
  const { turnId, sequence, stepIndex } = state.turn!;
  stream({ public: true, type: "message.appended", data: { turnId, sequence, stepIndex, messageDelta } });
}

function think({ state, stream }: EffectContext, reasoningDelta: string): void {
  const { turnId, sequence, stepIndex } = state.turn!;
  stream({ public: true, type: "reasoning.appended", data: { turnId, sequence, stepIndex, reasoningDelta } });
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve();
    signal.addEventListener("abort", () => resolve());
  });
}
