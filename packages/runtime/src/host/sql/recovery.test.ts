import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { monotonicFactory } from "ulid";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { Host, Perform } from "../../engine/ports.ts";
import { SURROUNDINGS } from "../conformance/world.fixture.ts";
import type { EffectInput } from "../../engine/input.ts";
import { calling, opening } from "../conformance/perform.fixture.ts";
import { until } from "../conformance/read-events.fixture.ts";
import { createSqlHost } from "./host.ts";
import { openSqliteStore } from "./sqlite.ts";

const ulid = monotonicFactory();
const hosts: Host[] = [];
let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "eve-recovery-"));
});
afterEach(async () => {
  await Promise.all(hosts.splice(0).map((host) => host.close()));
  rmSync(folder, { recursive: true, force: true });
});

async function startHost(perform: Perform): Promise<Host> {
  const host = createSqlHost({
    store: openSqliteStore(join(folder, "store.db")),
    perform,
    surroundings: ({ sessionId }) => ({
      ...SURROUNDINGS,
      sessionId,
      newSessionId: () => `ses_${ulid()}`,
      random: (length) => ulid().toLowerCase().slice(-length),
    }),
    newSessionId: () => `ses_${ulid()}`,
    newEventId: () => `evt_${ulid()}`,
    now: Date.now,
    onError: (error) => {
      throw error;
    },
  });
  hosts.push(host);
  await host.start();
  return host;
}

test("a cancel that was accepted before a crash is read before what it stops runs again (§21)", async () => {
  const first = await startHost(async (effect) => (effect.kind === "model" ? calling(["a"]) : new Promise(() => {})));
  const { sessionId } = await first.open({ input: opening("go") });
  await until(first, sessionId, "step.completed");
  await hosts.pop()!.close();
  const store = openSqliteStore(join(folder, "store.db"));
  expect(await store.accept(sessionId, "stop", { kind: "cancel" })).toBe("accepted");
  await store.close();

  const ran: string[] = [];
  const second = await startHost((effect) => {
    ran.push(effect.id);
    return new Promise(() => {});
  });
  await until(second, sessionId, "turn.cancelled");
  expect(ran).toEqual([]);
});

test("an effect that a crash stopped is run as an interrupted one once, and as any other when that decided nothing", async () => {
  const remote = { name: "peer", source: "subagents/peer.ts" };
  const asked: EffectInput = {
    kind: "model.responded",
    text: "",
    reasoning: "",
    finishReason: "tool-calls",
    calls: [
      { callId: "c1", name: "peer", input: { message: "go" }, target: { kind: "remote", remote, description: "" } },
    ],
    usage: { inputTokens: 1, outputTokens: 1, cacheReadTokens: 0, cacheWriteTokens: 0 },
  };
  const first = await startHost(async ({ kind }, { state }) => {
    if (kind !== "model") return new Promise(() => {});
    return state.turn!.stepIndex === 0 ? asked : { ...asked, text: "I wait.", calls: [] };
  });
  const { sessionId } = await first.open({ input: opening("go") });
  await until(first, sessionId, "turn.waiting");
  await first.deliver(sessionId, "end", { kind: "reset" });
  await until(first, sessionId, "session.completed");
  await hosts.pop()!.close();

  const runs: boolean[] = [];
  const stopped = Promise.withResolvers<unknown>();
  await startHost(async (effect, { interrupted }) => {
    if (effect.kind === "outgoing") stopped.resolve(effect.outgoing);
    if (effect.kind !== "send") return undefined;
    runs.push(interrupted);
    if (runs.length > 3) return undefined;
    const { taskId } = effect;
    // Nobody waits for the reply any more.
    if (interrupted) return { kind: "child.settled", callIds: ["c1"], status: "completed", output: "done" };
    return { kind: "remote.accepted", taskId, callId: "c1", remoteSessionId: "ses_far", deliveryId: "d", url: "" };
  });
  expect(await stopped.promise).toMatchObject({ kind: "reset", remoteSessionId: "ses_far" });
  expect(runs).toEqual([true, false]);
});
