import { afterEach, describe, expect, test } from "vitest";
import type { Surroundings } from "../engine/input.ts";
import type { Host, Perform } from "../engine/ports.ts";
import { calling, delegating, message, opening, reply, responded } from "./perform.fixture.ts";
import { testFaults } from "./faults.fixture.ts";
import { all, replies, until } from "./read-events.fixture.ts";

/**
 * What every host must do, run against each of them. A world is one durable storage; `open` starts a host on it, and
 * closing that host is what a crash is to the next: whatever was not committed never happened.
 */
export interface World {
  open(perform: Perform): Promise<Host>;
  dispose(): Promise<void>;
}

export const SURROUNDINGS: Omit<Surroundings, "sessionId" | "now" | "newSessionId" | "random"> = {
  modelId: "test/model",
  eveVersion: "0.0.0",
  base: "/eve/test/v1",
};

/** Registers the conformance suite of hosts for one implementation. */
export function describeHost(name: string, createWorld: () => Promise<World>): void {
  describe(`host conformance: ${name}`, () => {
    const worlds: World[] = [];
    const hosts: Host[] = [];
    const newWorld = async (): Promise<World> => {
      const world = await createWorld();
      worlds.push(world);
      return world;
    };
    const open = async (world: World, perform: Perform): Promise<Host> => {
      const host = await world.open(perform);
      hosts.push(host);
      return host;
    };
    const crash = async (host: Host): Promise<void> => {
      hosts.splice(hosts.indexOf(host), 1);
      await host.close();
    };
    afterEach(async () => {
      await Promise.all(hosts.splice(0).map((host) => host.close()));
      await Promise.all(worlds.splice(0).map((world) => world.dispose()));
    });

    test("deliver: a message becomes a turn, its events get dense indexes", async () => {
      const host = await open(
        await newWorld(),
        reply(() => "hello"),
      );
      const { sessionId } = await host.open({ input: opening("hi") });
      const events = await until(host, sessionId, "session.waiting");
      expect(events.map(({ type }) => type)).toEqual([
        "session.started",
        "turn.started",
        "message.received",
        "step.started",
        "message.completed",
        "step.completed",
        "turn.completed",
        "session.waiting",
      ]);
      const stored = await host.events(sessionId, 0, 100);
      expect(stored.map(({ index }) => index)).toEqual(events.map((_, index) => index));
      expect(new Set(events.map(({ meta }) => meta.id)).size).toBe(events.length);
      expect((await host.head(sessionId))?.nextIndex).toBe(events.length);
    });

    test("deliver: a session opened without a message waits for one", async () => {
      const host = await open(
        await newWorld(),
        reply(() => "hello"),
      );
      const { sessionId } = await host.open({ input: opening(undefined) });
      expect(await host.deliver(sessionId, "d1", message("d1", "hi"))).toBe("accepted");
      expect(await replies(host, sessionId, 1)).toEqual(["hello"]);
    });

    test("order: messages are read in the order in which they were accepted", async () => {
      const host = await open(
        await newWorld(),
        reply(() => "ok"),
      );
      const { sessionId } = await host.open({ input: opening(undefined) });
      const ids = Array.from({ length: 20 }, (_, index) => `d${index}`);
      await Promise.all(ids.map((id) => host.deliver(sessionId, id, message(id, id, "queue"))));
      await replies(host, sessionId, ids.length);
      const received = (await all(host, sessionId)).filter(({ type }) => type === "message.received");
      expect(received.map((event) => event.type === "message.received" && event.data.message)).toEqual(ids);
    });

    test("dedupe: the same id or operation with another digest is a conflict and does nothing", async () => {
      const host = await open(
        await newWorld(),
        reply(() => "ok"),
      );
      const first = await host.open({ operationKey: "op", digest: "a", input: opening(undefined) });
      const other = await host.open({ operationKey: "op", digest: "b", input: opening("hi") });
      expect(other).toEqual({ sessionId: first.sessionId, created: false, conflict: true });
      expect(await host.deliver(first.sessionId, "d1", message("d1", "one"), "a")).toBe("accepted");
      expect(await host.deliver(first.sessionId, "d1", message("d1", "two"), "b")).toBe("conflict");
      expect(await host.deliver(first.sessionId, "d1", message("d1", "one"), "a")).toBe("duplicate");
      expect(await replies(host, first.sessionId, 1)).toEqual(["ok"]);
    });

    test("events: a page ends where its length does, and holds at least one", async () => {
      const host = await open(
        await newWorld(),
        reply(() => "x".repeat(1_000)),
      );
      const { sessionId } = await host.open({ input: opening("hi") });
      await until(host, sessionId, "session.waiting");
      const every = await host.events(sessionId, 0, 100);
      const length = every[0]!.line.length + every[1]!.line.length;
      expect(await host.events(sessionId, 0, 100, length)).toEqual(every.slice(0, 2));
      expect(await host.events(sessionId, 0, 100, length - 1)).toEqual(every.slice(0, 1));
      expect(await host.events(sessionId, 0, 100, 1)).toEqual(every.slice(0, 1));
      expect(await host.events(sessionId, 0, 100, 1_000_000)).toEqual(every);
      expect(await host.events(sessionId, every.length, 100, 1)).toEqual([]);
    });

    test("dedupe: the same message is one turn, the same operation one session", async () => {
      const host = await open(
        await newWorld(),
        reply(() => "ok"),
      );
      const first = await host.open({ operationKey: "op", input: opening("hi") });
      const again = await host.open({ operationKey: "op", input: opening("hi") });
      expect(again).toEqual({ sessionId: first.sessionId, created: false, conflict: false });
      await replies(host, first.sessionId, 1);
      expect(await host.deliver(first.sessionId, "d1", message("d1", "more"))).toBe("accepted");
      expect(await host.deliver(first.sessionId, "d1", message("d1", "more"))).toBe("duplicate");
      await replies(host, first.sessionId, 2);
      expect(await host.deliver(first.sessionId, "d1", message("d1", "more"))).toBe("duplicate");
      expect(await host.delivered(first.sessionId, "d1")).toBe(true);
      expect(await host.delivered(first.sessionId, "d2")).toBe(false);
      expect((await host.state(first.sessionId))?.nextSequence).toBe(2);
    });

    test("deliver: unknown and ended sessions refuse", async () => {
      const host = await open(
        await newWorld(),
        reply(() => "ok"),
      );
      expect(await host.deliver("ses_unknown", "d1", message("d1", "hi"))).toBe("unknown");
      expect(await host.head("ses_unknown")).toBeUndefined();
      expect(await host.state("ses_unknown")).toBeUndefined();
      const { sessionId } = await host.open({ input: opening(undefined) });
      await host.deliver(sessionId, "end", { kind: "reset" });
      await until(host, sessionId, "session.completed");
      expect(await host.deliver(sessionId, "d1", message("d1", "hi"))).toBe("ended");
      expect((await host.head(sessionId))?.ended).toBe(true);
    });

    test("commit: text is streamed before the message that completes it", async () => {
      const host = await open(await newWorld(), async (effect, { state, stream }) => {
        const { turnId, sequence, stepIndex } = state.turn!;
        for (const messageDelta of ["one ", "two ", "three"]) {
          stream({ public: true, type: "message.appended", data: { turnId, sequence, stepIndex, messageDelta } });
          await new Promise((resolve) => setTimeout(resolve, 40));
        }
        return effect.kind === "model" ? responded("one two three") : undefined;
      });
      const { sessionId } = await host.open({ input: opening("count") });
      const events = await until(host, sessionId, "session.waiting");
      const deltas = events.filter((event) => event.type === "message.appended");
      expect(deltas.length).toBeGreaterThan(1);
      expect(deltas.map((event) => event.data.messageDelta).join("")).toBe("one two three");
      const completed = events.findIndex(({ type }) => type === "message.completed");
      expect(events.lastIndexOf(deltas.at(-1)!)).toBeLessThan(completed);
    });

    test("signals: a reader is told of every change, and what it reads in pages is whole", async () => {
      const host = await open(
        await newWorld(),
        reply(() => "ok"),
      );
      const { sessionId } = await host.open({ input: opening("hi") });
      const events = await until(host, sessionId, "session.waiting");
      const paged: number[] = [];
      for (;;) {
        const page = await host.events(sessionId, paged.length, 3);
        paged.push(...page.map(({ index }) => index));
        if (page.length < 3) break;
      }
      expect(paged).toEqual(events.map((_, index) => index));
    });

    test("effects: one that is no longer wanted is aborted, its result does not count", async () => {
      let aborted = false;
      let release = (): void => {};
      const host = await open(await newWorld(), async (_effect, { signal }) => {
        signal.addEventListener("abort", () => (aborted = true));
        await new Promise<void>((resolve) => (release = resolve));
        return responded("too late");
      });
      const { sessionId } = await host.open({ input: opening("hi") });
      await until(host, sessionId, "step.started");
      await host.deliver(sessionId, "stop", { kind: "cancel" });
      await until(host, sessionId, "turn.cancelled");
      expect(aborted).toBe(true);
      release();
      await new Promise((resolve) => setImmediate(resolve));
      expect((await all(host, sessionId)).some(({ type }) => type === "message.completed")).toBe(false);
    });

    test("effects: tools of one step run at the same time, the next step follows the last result", async () => {
      let atOnce = 0;
      let most = 0;
      const host = await open(await newWorld(), async (effect, { state }) => {
        if (effect.kind === "tool") {
          most = Math.max(most, ++atOnce);
          await new Promise((resolve) => setTimeout(resolve, 20));
          atOnce--;
          return { kind: "tool.settled", callId: effect.call.callId, status: "completed", output: 1 };
        }
        return state.turn!.stepIndex === 0 ? calling(["a", "b", "c"]) : responded("done");
      });
      const { sessionId } = await host.open({ input: opening("hi") });
      const events = await until(host, sessionId, "session.waiting");
      expect(most).toBe(3);
      expect(events.filter(({ type }) => type === "action.result")).toHaveLength(3);
      expect(events.filter(({ type }) => type === "step.started")).toHaveLength(2);
    });

    test("children: a call opens a session here, and its reply comes back", async () => {
      const host = await open(await newWorld(), delegating());
      const { sessionId } = await host.open({ input: opening("go") });
      const events = await until(host, sessionId, "session.waiting");
      const started = events.find((event) => event.type === "agent.started");
      const child = await all(host, started!.data.sessionId);
      expect(child.at(-1)?.type).toBe("session.waiting");
      const settled = events.find((event) => event.type === "task.settled");
      expect(settled?.data).toMatchObject({ status: "completed", output: "child reply" });
    });

    test("recovery: what was accepted is done after a crash, also when it was never begun", async () => {
      const world = await newWorld();
      const before = await open(world, () => new Promise(() => {}));
      const { sessionId } = await before.open({ input: opening("first") });
      await until(before, sessionId, "step.started");
      await before.deliver(sessionId, "d1", message("d1", "second", "queue"));
      await crash(before);
      const after = await open(
        world,
        reply(() => "ok"),
      );
      expect(await replies(after, sessionId, 2)).toEqual(["ok", "ok"]);
    });

    test("recovery: an effect whose result was committed is not run again, one that was not is", async () => {
      const world = await newWorld();
      const runs: string[] = [];
      let interruptions = 0;
      const perform =
        (hang: boolean): Perform =>
        async (effect, context) => {
          runs.push(effect.id);
          if (effect.kind === "tool") {
            if (context.interrupted) interruptions++;
            if (hang && effect.call.callId === "slow") return new Promise(() => {});
            return { kind: "tool.settled", callId: effect.call.callId, status: "completed", output: 1 };
          }
          return context.state.turn!.stepIndex === 0 ? calling(["quick", "slow"]) : responded("done");
        };
      const before = await open(world, perform(true));
      const { sessionId } = await before.open({ input: opening("hi") });
      const read = await until(before, sessionId, "action.result");
      await crash(before);
      const after = await open(world, perform(false));
      const events = await until(after, sessionId, "session.waiting");
      expect(events.slice(0, read.length)).toEqual(read);
      expect(runs.filter((id) => id.endsWith(":quick"))).toHaveLength(1);
      expect(runs.filter((id) => id.endsWith(":slow"))).toHaveLength(2);
      expect(interruptions).toBe(1);
      expect(new Set(events.map(({ meta }) => meta.id)).size).toBe(events.length);
    });

    test("recovery: a model call that a crash stopped is announced as another attempt", async () => {
      const world = await newWorld();
      const before = await open(world, () => new Promise(() => {}));
      const { sessionId } = await before.open({ input: opening("hi") });
      await until(before, sessionId, "step.started");
      await crash(before);
      const after = await open(
        world,
        reply(() => "ok"),
      );
      const events = await until(after, sessionId, "session.waiting");
      const steps = events.filter((event) => event.type === "step.started");
      expect(steps.map(({ data }) => [data.stepIndex, data.attempt])).toEqual([
        [0, 1],
        [0, 2],
      ]);
    });

    test("recovery: a child and its parent go on where they were", async () => {
      const world = await newWorld();
      const before = await open(world, delegating({ hangInChild: true }));
      const { sessionId } = await before.open({ input: opening("go") });
      await until(before, sessionId, "turn.waiting");
      await crash(before);
      const after = await open(world, delegating());
      const events = await until(after, sessionId, "session.waiting");
      expect(events.filter(({ type }) => type === "agent.started")).toHaveLength(1);
      expect(events.filter(({ type }) => type === "task.settled")).toHaveLength(1);
    });

    test("recovery: parked sessions start nothing", async () => {
      const world = await newWorld();
      const before = await open(
        world,
        reply(() => "ok"),
      );
      const { sessionId } = await before.open({ input: opening("hi") });
      await replies(before, sessionId, 1);
      await crash(before);
      let runs = 0;
      const after = await open(world, async () => {
        runs++;
        return responded("again");
      });
      expect(await replies(after, sessionId, 1)).toEqual(["ok"]);
      expect(runs).toBe(0);
    });

    testFaults({ newWorld, open });
  });
}
