import { expect } from "vitest";
import { EVENT_SCHEMAS } from "../protocol/events.ts";
import { cover, type Coverage } from "./coverage.fixture.ts";
import { deadline } from "./deadline.ts";
import type { Entry } from "./entry.ts";
import type { Delivery, ReplyTo } from "./state.ts";
import { createPromptCheck } from "./prompts.fixture.ts";
import { isSteered } from "./steering.ts";
import { fold, type Observer, type SimSession, type Step, type World } from "./world.fixture.ts";

interface Ledger {
  readonly started: Map<string, string>;
  readonly settled: Set<string>;
  readonly children: Set<string>;
  readonly steps: Set<string>;
  readonly read: Set<string>;
  readonly accepted: Map<string, Delivery>;
  /** Accepted and neither read nor dropped, in order. */
  waiting: string[];
  readonly dropped: Set<string>;
  readonly calls: Set<string>;
  readonly shortened: Set<string>;
  readonly texts: string[];
  shown: number;
  toShow: number;
  turns: number;
  step: number;
}

/** Watches every advance of a world and fails at the first that breaks an invariant. */
export function createInvariants(coverage: Coverage): Observer & { atRest(world: World): void } {
  const ledgers = new Map<string, Ledger>();
  const checkPrompts = createPromptCheck();
  const ledgerOf = ({ id }: SimSession): Ledger => {
    const known = ledgers.get(id);
    if (known !== undefined) return known;
    const fresh: Ledger = {
      started: new Map(),
      settled: new Set(),
      children: new Set(),
      steps: new Set(),
      read: new Set(),
      accepted: new Map(),
      waiting: [],
      dropped: new Set(),
      calls: new Set(),
      shortened: new Set(),
      texts: [],
      shown: 0,
      toShow: 0,
      turns: 0,
      step: -1,
    };
    ledgers.set(id, fresh);
    return fresh;
  };
  return {
    advanced: (session, step) => {
      const { before, input, sender, entries, after } = step;
      const ledger = ledgerOf(session);
      const steers = before?.turn !== undefined && !entries.some(({ type }) => type === "turn.started");
      for (const entry of entries) {
        check(session, ledger, entry);
        if (entry.type !== "message.received" || !steers) continue;
        const { principal, policy } = ledger.accepted.get(entry.inner!.deliveryIds[0]!)!;
        expect([principal, policy], "only the turn's own caller steers").toEqual([before.turn!.principal, "steer"]);
      }
      checkPrompts(session, step);
      cover(coverage, session, step);
      if (input.kind === "cancel" && sender !== "person") {
        const settled = (to: ReplyTo): boolean =>
          ledgers.get(to.kind === "local" ? sender! : to.url)!.settled.has(to.callId);
        expect(
          before?.turn?.replyTo.filter((to) => !settled(to)) ?? [],
          "cancelled, though its caller waits for it",
        ).toEqual([]);
      }
      if (input.kind === "remote.accepted") {
        const call = before!.tasks[input.taskId]!.waiting.find(({ callId }) => callId === input.callId);
        const stops = entries.some(({ type }) => type === "outgoing.queued");
        expect(stops, "what nobody waits for is stopped once it was accepted").toBe(call?.abandoned === true);
      }
      if (entries.length === 0) expect(after).toBe(before);
      if (before?.ended) expect(entries.filter((entry) => entry.public)).toEqual([]);
      if (after === undefined) return;
      const working = Object.values(after.tasks).filter((task) => task.status === "working");
      if (after.turn === undefined) expect(working, "a task works and no turn waits for it").toEqual([]);
      if (after.turn?.phase === "tasks") expect(working.length, "held by nothing").toBeGreaterThan(0);
      if (after.turn?.phase === "calls")
        expect(Object.keys(after.turn.pending).length + after.turn.waits.length, "waits for no call").toBeGreaterThan(
          0,
        );
      checkWaits(step, working.length);
      checkOverdue(step);
      if (after.turn?.phase === "compact") expect(after.compaction, "waits for no summary").toBeDefined();
      if (after.turn === undefined && after.compaction === undefined && !after.ended)
        expect(after.queue, "a message waits and no turn is under way").toEqual([]);
      for (const task of Object.values(after.tasks)) {
        const open = task.waiting.filter((call) => !call.abandoned);
        expect(open.length > 0, `${task.taskId} is ${task.status} with ${open.length} open calls`).toBe(
          task.status === "working",
        );
      }
    },
    atRest: (world) => {
      for (const session of world.sessions.values()) {
        const { state } = session;
        expect(fold(session.log), `${session.id} refolded`).toEqual(state);
        if (state === undefined) continue;
        const ledger = ledgerOf(session);
        expect(state.turn, `${session.id} hangs`).toBeUndefined();
        expect(state.compaction, `${session.id} waits for a summary`).toBeUndefined();
        expect(state.controls).toEqual([]);
        expect(state.outbox).toEqual([]);
        expect([...ledger.settled].toSorted(), `${session.id}: every call settles`).toEqual(
          [...ledger.started.keys()].toSorted(),
        );
        for (const deliveryId of ledger.accepted.keys()) {
          const known = ledger.read.has(deliveryId) || ledger.dropped.has(deliveryId) || state.ended;
          expect(known, `${deliveryId} is lost`).toBe(true);
        }
        if (state.ended) continue;
        expect(ledger.shown, `${session.id}: results shown`).toBe(ledger.toShow);
        const notes = session.log.flatMap(shownText).join("\n");
        for (const text of ledger.texts) expect(notes.split(`>${text}<`).length - 1, `${text} is read`).toBe(1);
        for (const task of Object.values(state.tasks))
          expect(task.waiting, `${task.taskId} waits for nobody`).toEqual([]);
      }
    },
  };
}

/** A wait that has what it waits for is over. */
function checkWaits({ input, after, now }: Step, working: number): void {
  const { turn } = after!;
  if (turn === undefined || turn.waits.length === 0) return;
  expect(turn.phase).toBe("calls");
  expect(working, "waits for no task").toBeGreaterThan(0);
  expect(turn.results, "waits beside a result").toEqual([]);
  expect(isSteered(after!), "waits beside a message").toBe(false);
  const times = turn.waits.flatMap(({ until }) => until ?? []);
  if (input.kind === "time.passed") for (const until of times) expect(until, "waits too long").toBeGreaterThan(now);
  if (times.length > 0) expect(deadline(after!), "is not told of the time").toBe(Math.min(...times));
}

/** What was answered before counts, and the task can be continued. */
function checkOverdue({ before, input, entries, after }: Step): void {
  if (input.kind !== "call.overdue" || entries.length === 0) return;
  expect(after!.tasks[input.taskId]!.status).toBe("idle");
  for (const { callId, read, abandoned, reply } of before!.tasks[input.taskId]!.waiting) {
    if (abandoned) continue;
    const settled = entries.find((entry) => entry.type === "task.settled" && entry.data.callId === callId);
    expect(settled?.data).toMatchObject(
      read ? { status: "completed" } : { status: "failed", error: { code: input.code } },
    );
    if (read) expect(reply).toBeDefined();
  }
}

/** What was shown stays shown, also when the history is shortened afterwards. */
function shownText(line: string): string[] {
  const entry = JSON.parse(line) as Entry;
  return entry.type === "results.shown" ? [entry.data.text] : [];
}

function check(session: SimSession, ledger: Ledger, entry: Entry): void {
  if (entry.public)
    expect(EVENT_SCHEMAS[entry.type].parse(JSON.parse(JSON.stringify(entry.data))), entry.type).toEqual(entry.data);
  switch (entry.type) {
    case "delivery.queued":
      ledger.accepted.set(entry.data.delivery.deliveryId, entry.data.delivery);
      ledger.waiting.push(entry.data.delivery.deliveryId);
      break;
    case "delivery.dropped":
      ledger.dropped.add(entry.data.deliveryId);
      ledger.waiting = ledger.waiting.filter((id) => id !== entry.data.deliveryId);
      break;
    case "turn.started":
      expect(entry.data).toMatchObject({ turnId: `turn_${ledger.turns}`, sequence: ledger.turns });
      ledger.turns++;
      ledger.step = -1;
      break;
    case "message.received":
      for (const id of entry.inner!.deliveryIds) {
        expect(ledger.read.has(id), `${id} is read twice`).toBe(false);
        ledger.read.add(id);
        expect(ledger.waiting.shift(), "messages are read in the order in which they were accepted").toBe(id);
      }
      break;
    case "step.started": {
      const { turnId, stepIndex, attempt } = entry.data;
      const key = `${turnId}/${stepIndex}/${attempt}`;
      expect(ledger.steps.has(key), `${key} is announced twice`).toBe(false);
      ledger.steps.add(key);
      expect(stepIndex).toBe(attempt === 1 ? ledger.step + 1 : ledger.step);
      ledger.step = stepIndex;
      break;
    }
    case "actions.requested":
      for (const { callId } of entry.data.actions) {
        expect(ledger.calls.has(callId), `${callId} names two calls`).toBe(false);
        ledger.calls.add(callId);
      }
      break;
    case "compaction.requested": {
      const { turnId, stepIndex } = entry.data;
      if (turnId === undefined) break;
      const key = `${turnId}/${stepIndex}`;
      expect(ledger.shortened.has(key), `${key} is shortened for twice`).toBe(false);
      ledger.shortened.add(key);
      break;
    }
    case "task.started":
      expect(ledger.started.has(entry.data.callId)).toBe(false);
      ledger.started.set(entry.data.callId, entry.data.taskId);
      break;
    case "agent.started":
      expect(ledger.children.has(entry.data.sessionId), `${entry.data.sessionId} is announced twice`).toBe(false);
      ledger.children.add(entry.data.sessionId);
      break;
    case "task.settled": {
      const { callId, status, cancel, output } = entry.data;
      expect(ledger.started.has(callId), `${callId} settles unstarted`).toBe(true);
      expect(ledger.settled.has(callId), `${callId} settles twice`).toBe(false);
      ledger.settled.add(callId);
      expect(cancel === undefined).toBe(status !== "cancelled");
      if (!entry.inner!.show) break;
      ledger.toShow++;
      if (status === "completed") ledger.texts.push(String(output));
      break;
    }
    case "results.shown":
      ledger.shown += entry.data.count;
      break;
    case "session.completed":
      expect(session.state?.ended).toBe(true);
      break;
  }
}
