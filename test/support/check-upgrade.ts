import { expect } from "vitest";
import type { StreamEvent } from "../../packages/runtime/src/protocol/events.ts";
import { parseEvent, replyOf } from "./check-stream.ts";
import { eventsOf, ofType, say } from "./converse.ts";
import { followEvents, readLines } from "./event-reader.ts";
import type { Noted } from "./keeper.ts";
import type { Member } from "./member.ts";
import { postJson, type Answer } from "./post-json.ts";
import type { RecordedSession } from "./recorded-store.ts";
import { until } from "./until.ts";

/** A store of a previous version under the code of today. */
export interface Upgraded {
  readonly keeper: Member;
  readonly journal: () => Noted[];
  /** What the one who called over the network was told. */
  readonly callbacks: readonly Readonly<Record<string, unknown>>[];
}

/** What must become of a session, by the state that it was in (contract §16, §19, §21). */
export const CHECKS: Readonly<Record<string, (session: RecordedSession, upgraded: Upgraded) => Promise<void>>> = {
  prewarmed: async ({ sessionId }, { keeper }) => {
    await say(keeper.api, sessionId, "Hello at last");
    expect(ofType(await eventsOf(keeper.api, sessionId), "turn.started")[0]!.data.turnId).toBe("turn_0");
  },

  "parked-plain": async (session, { keeper }) => {
    expect(await events(session, keeper)).toEqual(recorded(session));
    await repeat(`${keeper.api}/session`, session);
    expect(await events(session, keeper)).toEqual(recorded(session));
  },

  "parked-delegated": async (session, { keeper }) => {
    expect(await events(session, keeper)).toEqual(recorded(session));
    await say(keeper.api, session.sessionId, "Continue helper");
    const all = await eventsOf(keeper.api, session.sessionId);
    const taskIds = ofType(all, "task.started").map(({ data }) => data.taskId);
    expect(taskIds).toEqual([taskIds[0], taskIds[0]]);
    expect(ofType(all, "agent.started")).toHaveLength(1);
    expect(replyOf(all)).toBe("helper says: Measured 2.");
  },

  "failed-turn": async (session, { keeper }) => {
    expect(await events(session, keeper)).toEqual(recorded(session));
  },

  ended: async (session, { keeper }) => {
    expect(await events(session, keeper)).toEqual(recorded(session));
    await expectEnded(session, keeper);
    const [child] = ofType(recorded(session), "agent.started");
    await expectEnded({ ...session, sessionId: child!.data.sessionId }, keeper);
  },

  "callback-unsent": async (session, { keeper, callbacks }) => {
    expect(await events(session, keeper)).toEqual(recorded(session));
    await until("the caller is called back", () => callbacks.length > 0);
    expect(callbacks).toEqual([
      expect.objectContaining({
        kind: "turn.completed",
        callId: session.callId,
        sessionId: session.sessionId,
        output: "Good day.",
      }),
    ]);
  },

  "at-model": async (session, { keeper }) => {
    const [old] = ofType(recorded(session), "step.started");
    const all = await events(session, keeper);
    const [, again, ...more] = ofType(all, "step.started");
    expect(again!.data).toMatchObject({ ...old!.data, attempt: old!.data.attempt + 1 });
    expect(more).toEqual([]);
    expect(ofType(all, "turn.completed")).toHaveLength(1);
    expect(replyOf(all)).toBe("The first half, the second half.");
  },

  "at-tool": async (session, { keeper }) => {
    const all = await events(session, keeper);
    expect(results(all)).toEqual([{ status: "completed", output: { words: 3 } }]);
    expect(replyOf(all)).toBe('Counted: {"words":3}');
    expect(ofType(all, "turn.completed")).toHaveLength(1);
  },

  "at-tool-that-fails": async (session, { keeper }) => {
    const all = await events(session, keeper);
    expect(results(all)).toEqual([{ status: "failed", output: expect.stringMatching(/^TOOL_INTERRUPTED/) }]);
    expect(replyOf(all)).toMatch(/^Booked: TOOL_INTERRUPTED/);
    expect(ofType(all, "turn.completed")).toHaveLength(1);
  },

  "cancelled-turn": async (session, { keeper }) => {
    expect(await events(session, keeper)).toEqual(recorded(session));
  },

  "messages-wait": async (session, { keeper }) => {
    const all = await events(session, keeper, ended(2));
    expect(ofType(all, "message.received").map(({ data }) => [data.turnId, data.message])).toEqual([
      ["turn_0", "Count first"],
      ["turn_0", "Steer"],
      ["turn_1", "Wait"],
    ]);
    expect(ofType(all, "message.completed").map(({ data }) => data.message)).toEqual(["Steered.", "Waited."]);
    expect(results(all)).toHaveLength(1);
  },

  held: async (session, { keeper }) => {
    const all = await events(session, keeper);
    expect(settlements(all)).toEqual([
      { name: "helper", status: "completed", output: "Hello, too." },
      { name: "helper", status: "completed", output: "Measured 1." },
    ]);
    expect(replyOf(all)).toBe("helper says: Measured 1.");
  },

  "child-at-tool": async (session, { keeper }) => {
    const all = await events(session, keeper);
    expect(results(all)).toEqual([{ status: "completed", output: { length: 6 } }]);
    expect(ofType(all, "turn.completed")).toHaveLength(1);
  },

  "remote-at-work": async (session, { keeper, journal }) => {
    const all = await events(session, keeper);
    const output = 'Counted: {"words":3}';
    expect(settlements(all)).toEqual([{ name: "twin", status: "completed", output }]);
    expect(replyOf(all)).toBe(`twin says: ${output}`);
    expect(requests(journal(), /^twin.*\/session$/)).toEqual([]);
  },

  "opened-by-remote": async (session, { keeper, journal }) => {
    const all = await events(session, keeper);
    expect(results(all)).toEqual([{ status: "completed", output: { words: 3 } }]);
    await until("the caller is called back", () => requests(journal(), /^keeper.*\/callback\//).length > 0);
  },

  "remote-calls-back": async (session, { keeper }) => {
    expect(await events(session, keeper, () => true)).toEqual(recorded(session));
    const [child] = ofType(recorded(session), "agent.started");
    const { callId, sessionId } = child!.data;
    const body = {
      kind: "turn.completed",
      callId,
      sessionId,
      subagentName: "gone",
      outcome: { kind: "parked", result: { kind: "succeeded", output: "Back again." } },
    };
    // The token is one of the process that was killed.
    const call = () => postJson(`${keeper.origin}${session.callbackPath}`, body);
    expect(await call()).toMatchObject({ status: 202 });
    const all = await events(session, keeper);
    expect(await call()).toMatchObject({ status: 202 });
    expect(settlements(all)).toEqual([{ name: "gone", status: "completed", output: "Back again." }]);
    expect(replyOf(all)).toBe("gone says: Back again.");
    expect(await events(session, keeper)).toEqual(all);
  },

  "remote-forgot": async (session, { keeper }) => {
    const all = await events(session, keeper);
    expect(settlements(all)).toEqual([
      { name: "lost", status: "failed", error: expect.objectContaining({ code: "REMOTE_FAILED" }) },
    ]);
    expect(replyOf(all)).toMatch(/^lost says: The remote answered 404/);
  },

  "remote-left": async (session, { keeper }) => {
    expect(await events(session, keeper, () => true)).toEqual(recorded(session));
    const { status } = await postJson(`${keeper.api}/session/${session.sessionId}/cancel`, {});
    expect(status).toBe(202);
    const all = await events(session, keeper);
    expect(settlements(all)).toEqual([{ name: "gone", status: "cancelled", cancel: { reason: "turn_cancelled" } }]);
    expect(ofType(all, "turn.cancelled")).toHaveLength(1);
  },

  "remote-uncancelled": async (session, { keeper, journal }) => {
    expect(await events(session, keeper)).toEqual(recorded(session));
    const [child] = ofType(recorded(session), "agent.started");
    const path = new RegExp(`^lost.*/${child!.data.sessionId}/cancel$`);
    await until("the remote is told to cancel", () => requests(journal(), path).length > 0);
    expect(requests(journal(), path)).toHaveLength(1);
  },

  "remote-unsent": async (session, { keeper }) => {
    const all = await events(session, keeper);
    const output = 'Counted: {"words":3}';
    expect(settlements(all)).toEqual([{ name: "late", status: "completed", output }]);
    const [child, ...others] = ofType(all, "agent.started");
    expect(others).toEqual([]);
    expect(ofType(await eventsOf(keeper.api, child!.data.sessionId), "message.received")).toHaveLength(1);
  },

  "accepted-create": async (session, { keeper }) => {
    const all = await events(session, keeper);
    await repeat(`${keeper.api}/session`, session);
    expect(await events(session, keeper)).toEqual(all);
    expect(ofType(all, "message.received").map(({ data }) => data.message)).toEqual([session.operation!.message]);
  },

  "accepted-message": async (session, { keeper }) => {
    const all = await events(session, keeper, ended(2));
    await repeat(`${keeper.api}/session/${session.sessionId}`, session);
    expect(await events(session, keeper)).toEqual(all);
    const messages = ofType(all, "message.received").map(({ data }) => data.message);
    expect(messages).toEqual(["Hello first", session.operation!.message]);
  },

  "accepted-by-child": expectHelped,
  "accepted-reply": expectHelped,

  "accepted-reset": async (session, { keeper }) => {
    const all = await events(session, keeper);
    expect(all.at(-1)!.type).toBe("session.completed");
    expect(ofType(all, "turn.cancelled")).toHaveLength(1);
    await expectEnded(session, keeper);
  },
};

/** All events of a session, once they meet a condition; they go on from what was there before. */
export async function events(
  session: RecordedSession,
  { api }: Member,
  isDone: (events: readonly StreamEvent[]) => boolean = ended(1),
): Promise<StreamEvent[]> {
  await using reader = followEvents(`${api}/session/${session.sessionId}/stream`);
  const read: StreamEvent[] = [];
  await reader.untilEvent(`${session.state} goes on`, ({ event }) => {
    read.push(event);
    return read.length >= session.lines.length && isDone(read);
  });
  return eventsOf(api, session.sessionId);
}

async function expectHelped(session: RecordedSession, { keeper }: Upgraded): Promise<void> {
  const all = await events(session, keeper, ended(2));
  expect(settlements(all)).toEqual([{ name: "helper", status: "completed", output: "Measured 1." }]);
  expect(replyOf(all)).toBe("helper says: Measured 1.");
  const [child, ...others] = ofType(all, "agent.started");
  expect(others).toEqual([]);
  expect(ofType(await eventsOf(keeper.api, child!.data.sessionId), "turn.completed")).toHaveLength(1);
}

/** The session takes nothing any more, says so on each verb, and its stream ends by itself. */
async function expectEnded({ sessionId }: RecordedSession, { api }: Member): Promise<void> {
  const session = `${api}/session/${sessionId}`;
  expect(await postJson(session, { message: "Hello" })).toMatchObject({
    status: 409,
    body: { code: "session_not_active" },
  });
  expect(await postJson(`${session}/cancel`, {})).toMatchObject({ status: 200, body: { status: "no_active_turn" } });
  expect(await postJson(`${session}/reset`, {})).toMatchObject({ status: 200, body: { status: "no_active_session" } });
  expect(parseEvent((await readLines(`${session}/stream`)).at(-1)!).type).toBe("session.completed");
}

/** A request that was accepted before is accepted again and changes nothing; another one under its id is refused. */
async function repeat(url: string, { sessionId, operation }: RecordedSession): Promise<void> {
  const again: Answer = await postJson(url, operation);
  expect(again).toMatchObject({ status: 202, body: { sessionId } });
  const other = await postJson(url, { ...operation, message: "Hello instead" });
  expect(other).toMatchObject({ status: 409, body: { code: "OPERATION_CONFLICT" } });
}

/** The session waits for a message, after at least so many turns, or takes none any more. */
function ended(turns: number): (events: readonly StreamEvent[]) => boolean {
  return (all) =>
    all.at(-1)?.type === "session.completed" ||
    (all.at(-1)?.type === "session.waiting" && ofType(all as StreamEvent[], "session.waiting").length >= turns);
}

function recorded({ lines }: RecordedSession): StreamEvent[] {
  return lines.map(parseEvent);
}

function results(all: readonly StreamEvent[]): unknown[] {
  return ofType(all, "action.result").map(({ data: { status, result } }) => ({ status, output: result.output }));
}

function settlements(all: readonly StreamEvent[]): unknown[] {
  return ofType(all, "task.settled").map(({ data: { name, status, output, error, cancel } }) => ({
    name,
    status,
    ...(output === undefined ? {} : { output }),
    ...(error === undefined ? {} : { error }),
    ...(cancel === undefined ? {} : { cancel }),
  }));
}

function requests(journal: readonly Noted[], path: RegExp): string[] {
  return journal.filter(({ kind, key }) => kind === "request" && path.test(key)).map(({ key }) => key);
}
