import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { replyOf } from "./support/check-stream.ts";
import { eventsOf, ofType, say, typesOf } from "./support/converse.ts";
import { followEvents, type EventReader } from "./support/event-reader.ts";
import type { Member } from "./support/member.ts";
import { postJson } from "./support/post-json.ts";
import { isIdle } from "./support/read-store.ts";
import { buildRecordedWorkspace } from "./support/recorded-workspace.ts";
import { startMembers, type RunningWorkspace } from "./support/start-workspace.ts";
import { tempFolder } from "./support/temp-folder.ts";
import { until } from "./support/until.ts";

const cleanup = new AsyncDisposableStack();
/** While there is no such file, every tool of research and the reviewer waits. */
let gate: string;
let members: RunningWorkspace;
let foreman: Member;
let research: Member;

beforeAll(async () => {
  gate = join(cleanup.use(tempFolder()).path, "gate");
  const workspace = cleanup.use(await buildRecordedWorkspace());
  members = cleanup.use(await startMembers(workspace, { TEST_GATE: gate }));
  ({ foreman, research } = members);
});
afterAll(() => cleanup.disposeAsync());

/** Starts a conversation that does not go on before the gate is open. */
async function startHeld(): Promise<{ sessionId: string; childId: string; reader: EventReader }> {
  const { body } = await postJson(`${foreman.api}/session`, { message: "Ask research what a tide is" });
  const sessionId = String(body.sessionId);
  const reader = followEvents(`${foreman.api}/session/${sessionId}/stream`);
  const { event } = await reader.untilEvent("agent.started", ({ event }) => event.type === "agent.started");
  await reader.untilEvent("turn.waiting", ({ event }) => event.type === "turn.waiting");
  const childId = event.type === "agent.started" ? event.data.sessionId : "";
  await using child = followEvents(`${research.api}/session/${childId}/stream`);
  await child.untilEvent("the tool call", ({ event }) => event.type === "step.completed");
  return { sessionId, childId, reader };
}

test("a cancel stops the turn, its task and the turn of the peer, and the conversation goes on", async () => {
  const { sessionId, childId, reader } = await startHeld();
  await using _ = reader;
  const cancel = (body: object) => postJson(`${foreman.api}/session/${sessionId}/cancel`, body);

  expect(await cancel({ turnId: "turn_7" })).toMatchObject({ status: 200, body: { status: "no_active_turn" } });
  expect(await cancel({ turnId: "turn_0" })).toMatchObject({ status: 202, body: { status: "accepted" } });
  await reader.untilEvent("session.waiting", ({ event }) => event.type === "session.waiting");
  expect(await cancel({})).toMatchObject({ status: 200, body: { status: "no_active_turn" } });

  const events = await eventsOf(foreman.api, sessionId);
  expect(typesOf(events).slice(-3)).toEqual(["task.settled", "turn.cancelled", "session.waiting"]);
  const [settled] = ofType(events, "task.settled");
  expect(settled!.data).toMatchObject({ status: "cancelled", cancel: { reason: "turn_cancelled" } });
  await using child = followEvents(`${research.api}/session/${childId}/stream`);
  await child.untilEvent("turn.cancelled at research", ({ event }) => event.type === "turn.cancelled");
  await until("nobody has anything left to do", () => isIdle(foreman.store) && isIdle(research.store));

  // Opening the gate brings no late result of the turn that was cancelled.
  writeFileSync(gate, "");
  await say(foreman.api, sessionId, `Ask ${settled!.data.taskId} what a rainbow is`);
  const after = await eventsOf(foreman.api, sessionId);
  expect(replyOf(after)).toContain("42 degrees");
  expect(ofType(after, "task.settled").map(({ data }) => [data.taskId, data.status])).toEqual([
    [settled!.data.taskId, "cancelled"],
    [settled!.data.taskId, "completed"],
  ]);
  const childEvents = await eventsOf(research.api, childId);
  expect(ofType(childEvents, "action.result").map(({ data }) => data.turnId)).toEqual(["turn_1"]);
  expect(ofType(childEvents, "turn.started")).toHaveLength(2);
});

test("a reset ends the session, its task and the peer's session", async () => {
  rmSync(gate, { force: true });
  const { sessionId, childId, reader } = await startHeld();
  await using _ = reader;
  const url = `${foreman.api}/session/${sessionId}`;
  expect(await postJson(`${url}/reset`, { reason: "done" })).toMatchObject({
    status: 200,
    body: { status: "reset", previousSessionId: sessionId },
  });
  await reader.untilEvent("session.completed", ({ event }) => event.type === "session.completed");
  const events = await eventsOf(foreman.api, sessionId);
  expect(ofType(events, "task.settled")[0]!.data).toMatchObject({
    status: "cancelled",
    cancel: { reason: "turn_ended" },
  });
  expect(ofType(events, "session.completed")[0]!.data).toMatchObject({ reason: "done" });
  expect(await postJson(url, { message: "Hello" })).toMatchObject({
    status: 409,
    body: { code: "session_not_active" },
  });
  expect(await postJson(`${url}/reset`, {})).toMatchObject({ status: 200, body: { status: "no_active_session" } });
  await using child = followEvents(`${research.api}/session/${childId}/stream`);
  await child.untilEvent("session.completed at research", ({ event }) => event.type === "session.completed");
  await until("nobody has anything left to do", () => isIdle(foreman.store) && isIdle(research.store));
});
