import { afterAll, beforeAll, expect, test } from "vitest";
import { buildWorkspace } from "./support/build-workspace.ts";
import { eventsOf, ofType } from "./support/converse.ts";
import { followEvents } from "./support/event-reader.ts";
import { createMember, type Member } from "./support/member.ts";
import { postJson } from "./support/post-json.ts";
import { tempFolder } from "./support/temp-folder.ts";

const LIMIT_MS = 1_000;

const cleanup = new AsyncDisposableStack();
let far: Member;
/** Yards that give a call so long to end, or to show an event. */
const yards = new Map<string, Member>();

beforeAll(async () => {
  // No gate is ever opened: what an agent holds, it holds until it is stopped.
  const gates = cleanup.use(tempFolder()).path;
  const server = cleanup.use(await buildWorkspace(["test/fixtures/yard"])).server("yard");
  far = cleanup.use(await createMember("yard", server, { TEST_GATES: gates }));
  for (const limit of ["taskTimeoutMs", "taskSilenceMs"]) {
    const env = {
      TEST_GATES: gates,
      TEST_FAR: `${far.origin}/eve/yard`,
      TEST_LIMITS: JSON.stringify({ [limit]: LIMIT_MS }),
    };
    yards.set(limit, cleanup.use(await createMember("yard", server, env)));
  }
  await Promise.all([far, ...yards.values()].map((member) => member.start()));
});
afterAll(() => cleanup.disposeAsync());

test.concurrent.each([
  ["taskTimeoutMs", "worker", "TASK_TIMEOUT"],
  ["taskTimeoutMs", "far", "TASK_TIMEOUT"],
  ["taskSilenceMs", "worker", "TASK_SILENT"],
  ["taskSilenceMs", "far", "TASK_SILENT"],
] as const)("§6.11 %s of %s fails the call, and the task goes on", async (limit, tool, code) => {
  const yard = yards.get(limit)!;
  const wait = ["eve__task_wait", {}];
  const script = [
    [[tool, { message: "hold gate" }], wait],
    [[tool, { message: "say again", taskId: "$1" }], wait],
  ];
  const { body } = await postJson(`${yard.api}/session`, { message: JSON.stringify(script) });
  const sessionId = String(body.sessionId);
  await using reader = followEvents(`${yard.api}/session/${sessionId}/stream`);
  await reader.untilEvent("session.waiting", ({ event }) => event.type === "session.waiting", { timeoutMs: 20_000 });

  const events = await eventsOf(yard.api, sessionId);
  const [late, again] = ofType(events, "task.settled").map(({ data }) => data);
  expect(late).toMatchObject({ status: "failed", error: { message: expect.stringContaining(code) } });
  expect(again).toMatchObject({ status: "completed", output: "again", taskId: late!.taskId });

  // The child's turn was stopped, and the next one is of the same session.
  const [child, ...more] = ofType(events, "agent.started");
  expect(more).toEqual([]);
  const childApi = tool === "far" ? far.api : yard.api;
  const ends = (await eventsOf(childApi, child!.data.sessionId)).filter(({ type }) => /^turn\.(c|f)/.test(type));
  expect(ends.map(({ type }) => type)).toEqual(["turn.cancelled", "turn.completed"]);
});
