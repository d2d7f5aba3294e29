import { expect } from "vitest";
import { checkStream, parseEvent, replyOf } from "./check-stream.ts";
import type { CrashRun, Executed, Trace } from "./crash-run.ts";
import type { StoredEntry, StoredSession } from "./read-store.ts";
import { repeated } from "./stream-problems.ts";

const RECOVERY_MS = 5_000;

/** Holds a run with a crash against the promises of contract §19; `reply` is that of a run without one. */
export function checkCrashRun(run: CrashRun, reply: string): void {
  const { foreman, research, accepted } = run;
  // What was read before the crash, and after it, is what the stream says for good.
  expect(run.again).toEqual(run.lines);
  const events = run.lines.map(parseEvent);
  checkStream(events);
  expect(events.filter(({ meta }) => meta.deliveryIds?.includes(accepted.deliveryId))).toHaveLength(1);
  expect(replyOf(events)).toBe(reply);

  expect(foreman.store.sessions.map(({ node }) => node)).toEqual(["root", "root/reviewer"]);
  expect(research.store.sessions.map(({ node }) => node)).toEqual(["root"]);
  expect([foreman.store.operations, research.store.operations]).toEqual([1, 1]);
  for (const { store } of [foreman, research]) {
    expect(store.unread).toEqual([]);
    store.sessions.forEach(checkSession);
    expect(
      repeated(store.sessions.flatMap(({ log }) => log.flatMap(({ id }) => id ?? []))),
      "event ids in the store",
    ).toEqual([]);
  }
  expect(foreman.store.sessions[0]!.id).toBe(accepted.sessionId);

  checkModelCalls(foreman, { foreman: "root", reviewer: "root/reviewer" });
  checkModelCalls(research, { research: "root" });
  checkTools(foreman);
  checkTools(research);
  checkRequests(foreman, "call.sent", /\/session$/);
  checkRequests(research, "outgoing.done", /\/callback\//);
  expect(run.recoveryMs, "milliseconds from the restart to session.waiting").toBeLessThan(RECOVERY_MS);
}

/** One turn, read once, with an unbroken log. */
function checkSession({ log, active, node }: StoredSession): void {
  expect(active, `${node} still has something to do`).toBe(false);
  expect(log.map(({ seq }) => seq)).toEqual(log.map((_, position) => position));
  const indexes = log.flatMap(({ index }) => index ?? []);
  expect(indexes).toEqual(indexes.map((_, position) => position));
  const count = (type: string): number => log.filter((entry) => entry.type === type).length;
  for (const type of [
    "session.opened",
    "delivery.queued",
    "turn.started",
    "message.received",
    "turn.completed",
    "session.waiting",
  ]) {
    expect(count(type), `${type} in ${node}`).toBe(1);
  }
  const public_ = log.filter(({ index }) => index !== null);
  checkStream(public_.map(({ type, data, id }) => ({ type, data, meta: { id, at: "" } })) as never);
}

/** Every step was computed until its response was committed, and never again. */
function checkModelCalls({ store, executed }: Trace, nodes: Readonly<Record<string, string>>): void {
  for (const [agent, node] of Object.entries(nodes)) {
    const { log } = store.sessions.find((session) => session.node === node)!;
    const committed = log.filter(({ type }) => type === "step.completed");
    const started = log.filter(({ type }) => type === "step.started");
    const calls = Map.groupBy(
      executed.filter((one) => one.kind === "model" && one.node === agent),
      ({ key }) => key,
    );
    expect(calls.size, `different prompts of ${agent}`).toBe(committed.length);
    [...calls.values()].forEach((runs, step) => {
      const attempts = started.filter(({ data }) => data.stepIndex === step).length;
      expect(runs.length, `model calls of ${agent} in step ${step}`).toBeLessThanOrEqual(attempts);
      expectNoneAfter(runs, committed[step]!, `model call of ${agent} in step ${step}`);
    });
  }
}

/** Every tool ran until its result was committed, and never again. */
function checkTools({ store, executed }: Trace): void {
  const calls = Map.groupBy(
    executed.filter(({ kind }) => kind === "tool"),
    ({ key }) => key,
  );
  expect(calls.size, "different tool calls").toBe(1);
  for (const [key, runs] of calls) {
    expect(runs.length, `executions of ${key}`).toBeLessThanOrEqual(2);
    const [sessionId, , callId] = key.split(":");
    const { log } = store.sessions.find(({ id }) => id === sessionId)!;
    const results = log.filter(
      ({ type, data }) => type === "action.result" && (data.result as { callId: string }).callId === callId,
    );
    expect(results, `results of ${key}`).toHaveLength(1);
    expectNoneAfter(runs, results[0]!, `execution of ${key}`);
  }
}

/** A request that the other side has accepted, and this side has noted, is not sent again. */
function checkRequests({ store, executed }: Trace, noted: string, path: RegExp): void {
  const requests = executed.filter(({ kind, key }) => kind === "request" && path.test(key));
  const done = store.sessions.flatMap(({ log }) => log).filter(({ type }) => type === noted);
  expect(done, noted).toHaveLength(1);
  expect(new Set(requests.map(({ key }) => key)).size, `different requests to ${path}`).toBe(1);
  expectNoneAfter(requests, done[0]!, `request to ${path}`);
}

function expectNoneAfter(runs: readonly Executed[], commit: StoredEntry, what: string): void {
  const late = runs.filter(({ at }) => at > commit.at).map(({ at }) => at - commit.at);
  expect(late, `${what}, milliseconds after its result was committed`).toEqual([]);
}
