import { expect, test } from "vitest";
import { checkHistory } from "./check-history.ts";
import { edit, effect, soundHistory, type Draft } from "./history.fixture.ts";

/** Ways in which a run can go wrong, and what must be said of it. */
const BROKEN: readonly (readonly [name: string, breakIt: (history: Draft) => void, complaint: RegExp])[] = [
  // Messages
  ["a message is lost", (h) => without(h, "ses_a", ofRun("m2")), /^m2 was accepted and never read/],
  ["a message is read twice", (h) => twice(h, "ses_a", ofRun("m2")), /^m2 was read twice/],
  ["a message is changed", (h) => (h.messages[2]!.text = "other"), /^m2 was read as run m2/],
  ["a message was never accepted", (h) => (h.messages[2]!.answers = []), /^m2 was never accepted/],
  ["a repeated request is two deliveries", (h) => repeat(h, { deliveryId: "d_x" }), /^m2 is two deliveries/],
  ["a repeated request is two sessions", (h) => repeat(h, { sessionId: "ses_x" }), /^m2 is two deliveries/],
  ["a message that nobody sent is read", (h) => h.messages.splice(2, 1), /read a message that nobody sent/],
  ["a turn fails", (h) => change(h, "ses_a", ended("turn_2"), failed), /^m2: its turn failed: X broke/],
  ["a turn ends never", (h) => without(h, "ses_a", ended("turn_2")), /turn_2 of ses_a ended 0 times/],
  ["a turn ends twice", (h) => twice(h, "ses_a", ended("turn_2")), /turn_2 of ses_a ended 2 times/],
  ["a turn is cancelled, and nobody asked", (h) => h.stops.splice(0), /^m1: its turn turn_1 of ses_a was cancelled/],
  ["a child reads a call twice", (h) => twice(h, "ses_w", ofRun("m0#0.1")), /the call m0#0.1 was read twice/],
  ["a child's turn fails", (h) => change(h, "ses_w", ended("turn_0"), failed), /turn_0 of the child ses_w failed/],
  // Streams
  [
    "an event has another id after a crash",
    (h) => change(h, "ses_a", isType("message.received"), newId),
    /event 2, followed, was/,
  ],
  ["an event that was read is gone", (h) => without(h, "ses_a", isType("step.started")), /followed, was .*, and is/],
  ["a stream is shorter than what was read", (h) => edit(h, "ses_a", (all) => all.slice(0, 5)), /and is gone/],
  ["an event is there twice", (h) => twice(h, "ses_a", isType("turn.waiting")), /the id evt_\w+ is there twice/],
  ["a step is completed twice", (h) => twice(h, "ses_a", isType("step.completed")), /step.completed .* is there twice/],
  ["a step begins again", (h) => late(h, "ses_a", "step.started"), /starts again after it was completed/],
  ["an event is none", (h) => change(h, "ses_a", isType("turn.waiting"), (e) => ({ ...e, type: "x" })), /is no event/],
  ["a field is missing", (h) => change(h, "ses_a", isType("turn.waiting"), noData), /event \d+, turn.waiting: /],
  ["a turn hangs", (h) => edit(h, "ses_a", (all) => all.slice(0, -2)), /turn_2 is still under way/],
  ["a child hangs: an orphan", (h) => edit(h, "ses_w", (all) => all.slice(0, 3)), /ses_w: turn_0 is still under way/],
  // Tasks
  ["a call never settles", (h) => without(h, "ses_a", isType("task.settled")), /the call c2 of worker-000001 never/],
  ["a call settles twice", (h) => twice(h, "ses_a", isType("task.settled")), /task.settled c2 is there twice/],
  ["a call settles that never started", (h) => without(h, "ses_a", isType("task.started")), /which had not started/],
  ["a child is announced twice", (h) => twice(h, "ses_a", isType("agent.started")), /ses_w was announced twice/],
  ["a call fails", (h) => settle(h, { status: "failed", error: { message: "x" } }), /worker-000001 failed: x/],
  ["a call is cancelled alone", (h) => settle(h, { status: "cancelled" }), /was cancelled, and its turn was not/],
  ["a call has the reply to another", (h) => settle(h, { output: "m7#0 said" }), /which is to none of m0#0.1/],
  ["a call has a reply that was not said", (h) => settle(h, { output: "m0#0.1#9" }), /ses_w never said/],
  ["a call settles too early", (h) => delay(h, "ses_w", 900), /settled before turn_0 of its child ses_w/],
  ["a child is cancelled alone", (h) => change(h, "ses_w", ended("turn_0"), cancelled), /and no turn of ses_a/],
  ["a child outlives its parent's session", endParent, /ses_w lives on, its parent's session is over/],
  // Effects
  [
    "a completed step runs again",
    (h) => h.effects.push(effect("model", "caller", "m0#0", 900, 3)),
    /asked for m0#0 again/,
  ],
  ["a tool runs again after its result", (h) => rerun(h, "ses_a:turn_0:c1", 3), /ran again after its result/],
  ["a tool runs after its turn", (h) => rerun(h, "ses_a:turn_1:c3", 3), /c3 of ses_a ran after its turn had ended/],
  ["a tool runs twice in one process", (h) => rerun(h, "ses_a:turn_0:c1", 2), /twice in one process/],
  ["a tool runs before it is asked for", (h) => (h.effects[1]!.at -= 70), /ran before it was asked for/],
  ["a tool that must not run twice does", (h) => (h.effects[1]!.node = "audit"), /ran 2 times, and must not twice/],
  ["a result was never computed", (h) => h.effects.splice(5, 1), /has a result, and never ran/],
  ["a step was never computed", (h) => h.effects.splice(0, 1), /m0#0 is on a stream, and no model was asked/],
  ["a tool's result is a failure", (h) => change(h, "ses_a", ofCall("c1"), refused), /c1 failed: no/],
  ["a reply is read twice", (h) => h.effects[7]!.read!.push("m0#0.1#0"), /read a reply twice before m0#2/],
  ["a reply is not read", (h) => h.effects.forEach((one) => delete one.read), /no model read the reply m0#0.1#0/],
  ["somebody works unseen", (h) => h.effects.push(effect("model", "clerk", "m0#9.0#0", 99, 2)), /no stream says so/],
  ["a hidden session lives on", hide, /ses_w was never announced, and lives on/],
  ["what was stopped begins again", stopBeforeDeath, /began after a crash, and was to stop before it/],
  // The run
  ["a member dies by itself", (h) => (h.deaths[0]!.cause = "by itself: out of memory"), /^caller died by itself/],
  ["something was not over in time", (h) => h.unfinished.push("m9 is read"), /^unfinished: m9 is read/],
];

test("a run that kept its promises is not complained about", () => {
  expect(checkHistory(soundHistory())).toEqual([]);
});

test.each(BROKEN)("%s: the checker says so", (_, breakIt, complaint) => {
  const history = soundHistory();
  breakIt(history);
  expect(checkHistory(history)).toEqual(expect.arrayContaining([expect.stringMatching(complaint)]));
});

test("a reset explains a message that was not read, and nobody else's", () => {
  const history = soundHistory();
  without(history, "ses_a", ofRun("m2"));
  history.stops.push({ kind: "reset", sessionId: "ses_b", askedAt: 0 });
  expect(checkHistory(history)).toEqual([expect.stringMatching(/^m2 was accepted and never read/)]);
});

type Match = (event: any) => boolean;

function isType(type: string): Match {
  return (event) => event.type === type;
}

function ofRun(id: string): Match {
  return ({ type, data }) => type === "message.received" && data.message.startsWith(`run ${id}:`);
}

function ofCall(id: string): Match {
  return ({ type, data }) => type === "action.result" && data.result.callId === id;
}

function ended(turnId: string): Match {
  return ({ type, data }) => /^turn\.(completed|cancelled)$/.test(type) && data.turnId === turnId;
}

function without(history: Draft, sessionId: string, match: Match): void {
  edit(history, sessionId, (events) => events.filter((event) => !match(event)));
}

function twice(history: Draft, sessionId: string, match: Match): void {
  const first = (events: any[], event: unknown): boolean => events.find(match) === event;
  edit(history, sessionId, (events) => events.flatMap((event) => (first(events, event) ? [event, event] : [event])));
}

function change(history: Draft, sessionId: string, match: Match, to: (event: any) => unknown): void {
  edit(history, sessionId, (events) => events.map((event) => (match(event) ? to(event) : event)));
}

/** The first event of a type comes again after the next `step.completed`. */
function late(history: Draft, sessionId: string, type: string): void {
  edit(history, sessionId, (events) => {
    const at = events.findIndex(isType("step.completed"));
    return [...events.slice(0, at + 1), events.find(isType(type)), ...events.slice(at + 1)];
  });
}

function delay(history: Draft, sessionId: string, ms: number): void {
  const later = (at: string): string => new Date(Date.parse(at) + ms).toISOString();
  change(
    history,
    sessionId,
    () => true,
    (event) => ({ ...event, meta: { ...event.meta, at: later(event.meta.at) } }),
  );
}

function settle(history: Draft, data: object): void {
  change(history, "ses_a", isType("task.settled"), (event) => ({ ...event, data: { ...event.data, ...data } }));
}

function rerun(history: Draft, key: string, pid: number): void {
  history.effects.push(effect("tool", "work", key, 900, pid));
}

function repeat({ messages }: Draft, other: object): void {
  messages[2]!.answers.push({ ...messages[2]!.answers[0]!, ...other });
}

function endParent(history: Draft): void {
  history.stops.push({ kind: "reset", sessionId: "ses_a", askedAt: 0 });
  edit(history, "ses_a", (events) => {
    const last = events.at(-1);
    return [...events.slice(0, -1), { ...last, type: "session.completed", data: { usage: last.data.usage } }];
  });
}

function hide({ streams, messages, stops }: Draft): void {
  const child = streams[1]!;
  delete child.parent;
  child.isHidden = true;
  stops.push({ kind: "reset", sessionId: messages[0]!.answers[0]!.sessionId, askedAt: 0 });
}

function stopBeforeDeath({ stops, deaths, effects }: Draft): void {
  deaths[0]!.at = stops[0]!.answeredAt! + 1;
  effects[9]!.at = deaths[0]!.at + 1;
}

const failed = (event: any) => ({
  ...event,
  type: "turn.failed",
  data: { ...event.data, code: "X", message: "broke" },
});
const cancelled = (event: any) => ({ ...event, type: "turn.cancelled" });
const newId = (event: any) => ({ ...event, meta: { ...event.meta, id: `evt_${"Z".repeat(26)}` } });
const noData = (event: any) => ({ ...event, data: {} });
const refused = (event: any) => ({
  ...event,
  data: { ...event.data, status: "failed", result: { ...event.data.result, output: "no" } },
});
