import { describe, expect, test } from "vitest";
import type { Perform } from "../../engine/ports.ts";
import { createTestApp, hanging, saying } from "../app.fixture.ts";

/** The root calls `helper` twice and says no more; the first child is done at once, the second never. */
const delegating: Perform = async (effect, context) => {
  const { nodeId, history } = context.state;
  const calls = history.flatMap((item) => (item.role === "assistant" ? item.calls : []));
  if (nodeId === "root" && calls.length === 0) {
    const call = (callId: string) => ({
      callId,
      name: "helper",
      input: { message: callId },
      target: { kind: "local", nodeId: "root/helper", description: "Helps." } as const,
    });
    const said = await saying("")(effect, context);
    return said?.kind === "model.responded" ? { ...said, calls: [call("quick"), call("slow")] } : said;
  }
  return JSON.stringify(history).includes("slow") && nodeId !== "root"
    ? hanging(effect, context)
    : saying("ok")(effect, context);
};

describe("GET session/:id/tasks", () => {
  test("lists the tasks of a session, the one used last first, with the calls that wait for an answer", async () => {
    const { create, get, until } = await createTestApp({ perform: delegating });
    const sessionId = await create();
    const events = await until(sessionId, "task.settled");
    const sessions = events.flatMap((event) => (event.type === "agent.started" ? [event.data.sessionId] : []));
    const ids = events.flatMap((event) => (event.type === "task.started" ? [event.data.taskId] : []));
    const response = await get(`/session/${sessionId}/tasks`);
    expect([response.status, response.headers.get("cache-control")]).toEqual([200, "no-store"]);
    const task = { name: "helper", kind: "agent", remote: false };
    expect(await response.json()).toEqual({
      tasks: [
        {
          ...task,
          taskId: ids[1],
          sessionId: sessions[1],
          status: "working",
          calls: [{ callId: "slow", turnId: "turn_0" }],
        },
        { ...task, taskId: ids[0], sessionId: sessions[0], status: "idle", calls: [] },
      ],
    });
  });

  test("a session without tasks has an empty list", async () => {
    const { create, get, until } = await createTestApp({ perform: saying("ok") });
    const sessionId = await create();
    await until(sessionId, "session.waiting");
    expect(await (await get(`/session/${sessionId}/tasks`)).json()).toEqual({ tasks: [] });
  });

  test("an unknown session, and another caller's, is not found", async () => {
    const { create, get } = await createTestApp({ perform: hanging });
    const sessionId = await create();
    const [unknown, others] = await Promise.all([
      get("/session/ses_unknown/tasks"),
      get(`/session/${sessionId}/tasks`, { as: "mallory" }),
    ]);
    expect([unknown.status, others.status]).toEqual([404, 404]);
  });
});
