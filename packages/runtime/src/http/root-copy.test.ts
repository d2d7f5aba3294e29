import { describe, expect, onTestFinished, test } from "vitest";
import { scriptedModel } from "../testing/scripted-model.ts";
import { createTestApp } from "./app.fixture.ts";

/** The root hands work to a copy of itself and waits for it, so that the model is called in this order. */
describe("§7 a copy of the root", () => {
  const play = async () => {
    const model = scriptedModel(
      [
        {
          calls: [
            { name: "agent", input: { message: "do a part" } },
            { name: "eve__task_wait", input: {} },
          ],
        },
        { calls: [{ name: "agent", input: { message: "do it for me" } }] },
        { text: "the part is done" },
        { text: "all is done" },
      ],
      { onTestFinished },
    );
    const app = await createTestApp({ model });
    const sessionId = await app.create("the whole work");
    const events = await app.until(sessionId, "session.waiting");
    const [child] = await app.host.descendants(sessionId);
    return { model, app, sessionId, events, child: child! };
  };

  test("is an agent of the same node, and its reply the task's result", async () => {
    const { model, app, events, child } = await play();
    expect(events.find(({ type }) => type === "agent.started")?.data).toMatchObject({
      name: "agent",
      sessionId: child,
    });
    expect(events.find(({ type }) => type === "task.settled")?.data).toMatchObject({
      status: "completed",
      output: "the part is done",
    });
    expect((await app.host.head(child))?.nodeId).toBe("root");
    const [root, copy] = model.requests;
    expect(root!.tools).toEqual(["agent", "add", "peer", "helper", "eve__task_wait", "eve__task_cancel"]);
    expect(copy!.tools).toEqual(["add", "peer", "helper", "eve__task_wait", "eve__task_cancel"]);
  });

  test("begins with a fresh history", async () => {
    const { model } = await play();
    const prompt = JSON.stringify(model.requests[1]!.prompt);
    expect([prompt.includes("do a part"), prompt.includes("the whole work")]).toEqual([true, false]);
  });

  test("that calls a copy of its own is refused before any session opens", async () => {
    const { app, sessionId, child } = await play();
    const events = await app.events(child);
    expect(events.find(({ type }) => type === "action.result")?.data).toMatchObject({
      status: "failed",
      result: { toolName: "agent", output: expect.stringContaining("UNKNOWN_TOOL") },
    });
    expect(events.some(({ type }) => type === "task.started" || type === "agent.started")).toBe(false);
    expect(await app.host.descendants(sessionId)).toEqual([child]);
  });
});
