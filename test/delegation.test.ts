import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { StreamEvent } from "../packages/runtime/src/protocol/events.ts";
import { replyOf } from "./support/check-stream.ts";
import { converse, eventsOf, ofType, say, typesOf } from "./support/converse.ts";
import { followEvents, readLines } from "./support/event-reader.ts";
import type { Member } from "./support/member.ts";
import { readStore } from "./support/read-store.ts";
import { startWorkspace, type RunningWorkspace } from "./support/start-workspace.ts";

let workspace: RunningWorkspace;
let foreman: Member;
let research: Member;

beforeAll(async () => {
  workspace = await startWorkspace();
  ({ foreman, research } = workspace);
});
afterAll(() => workspace?.[Symbol.asyncDispose]());

describe("ask research what a tide is, and let the reviewer check it", () => {
  let sessionId: string;
  let events: StreamEvent[];

  beforeAll(async () => {
    sessionId = await converse(foreman.api, "Ask research what a tide is, and let the reviewer check it");
    events = await eventsOf(foreman.api, sessionId);
  });

  test("both delegations are announced, started and settled, once each", () => {
    expect(ofType(events, "task.started").map(({ data }) => data.name)).toEqual(["research", "reviewer"]);
    expect(ofType(events, "agent.started").map(({ data }) => data.name)).toEqual(["research", "reviewer"]);
    expect(ofType(events, "task.settled").map(({ data }) => [data.name, data.status])).toEqual([
      ["research", "completed"],
      ["reviewer", "completed"],
    ]);
    for (const { data } of ofType(events, "task.settled")) {
      const same = { taskId: data.taskId, callId: data.callId, turnId: "turn_0", name: data.name, kind: "agent" };
      expect(data).toMatchObject(same);
      expect(ofType(events, "task.started").map((started) => started.data)).toContainEqual(same);
      expect(data.taskId).toMatch(new RegExp(`^${data.name}-[a-z0-9]{6}$`));
    }
  });

  test("the calls are of the kinds that the protocol names, and answered with receipts", () => {
    const actions = ofType(events, "actions.requested").flatMap(({ data }) => data.actions);
    expect(actions).toMatchObject([
      { kind: "remote-agent-call", remoteAgentName: "research" },
      { kind: "subagent-call", subagentName: "reviewer", nodeId: "root/reviewer" },
    ]);
    const tasks = ofType(events, "task.started").map(({ data }) => data.taskId);
    const receipts = ofType(events, "action.result").map(({ data }) => data.result);
    expect(receipts.map(({ callId }) => callId)).toEqual(actions.map(({ callId }) => callId));
    receipts.forEach(({ output }, index) => expect(output).toContain(tasks[index]));
  });

  test("the events come in the order of the protocol", () => {
    const positionOf = (type: string, name: string): number =>
      events.findIndex((event) => event.type === type && "name" in event.data && event.data.name === name);
    for (const name of ["research", "reviewer"]) {
      const order = [
        positionOf("task.started", name),
        positionOf("agent.started", name),
        positionOf("task.settled", name),
      ];
      expect(order).toEqual(order.toSorted((a, b) => a - b));
      const before = events.slice(0, order[0]).map(({ type }) => type);
      expect(before.slice(-2)).toEqual(["actions.requested", "step.completed"]);
      expect(events[order[0]! + 1]!.type).toBe("action.result");
      const held = events.slice(order[0], order[2]).find(({ type }) => type === "turn.waiting");
      expect(held?.data).toMatchObject({ on: "tasks" });
      expect(events[order[2]! + 1]!.type).toBe("step.started");
    }
    expect(typesOf(events).slice(0, 4)).toEqual([
      "session.started",
      "turn.started",
      "message.received",
      "step.started",
    ]);
    expect(typesOf(events).slice(-4)).toEqual([
      "message.completed",
      "step.completed",
      "turn.completed",
      "session.waiting",
    ]);
    expect(ofType(events, "turn.started")).toHaveLength(1);
  });

  test("research ran in its own process, with a session of its own", async () => {
    const [started] = ofType(events, "agent.started");
    const { sessionId: childId, streamPath, callId, remote } = started!.data;
    expect(remote).toEqual({ url: research.origin, resolverId: "subagents/research.ts" });
    expect(streamPath).toBe(`/eve/foreman/v1/session/${sessionId}/subagents/${callId}/${childId}/stream`);
    const owner = JSON.parse(readFileSync(join(research.store, "store.lock.json"), "utf8")) as { pid: number };
    expect(owner.pid).toBe(research.pid);
    expect(owner.pid).not.toBe(foreman.pid);
    expect(readStore(research.store).sessions.map(({ id }) => id)).toEqual([childId]);
    expect(readStore(foreman.store).sessions.map(({ id }) => id)).not.toContain(childId);

    const own = await readLines(`${research.api}/session/${childId}/stream?follow=false`);
    expect(await readLines(`${foreman.origin}${streamPath}?follow=false`)).toEqual(own);
    const ownEvents = await eventsOf(research.api, childId);
    expect(ofType(ownEvents, "action.result").map(({ data }) => data.result.toolName)).toEqual(["look_up"]);
    expect(ofType(ownEvents, "message.received").map(({ data }) => data.message)[0]).toMatch(/\n\nwhat a tide is$/);
    expect(replyOf(ownEvents)).toBe(ofType(events, "task.settled")[0]!.data.output);
  });

  test("the reviewer ran as a child session of foreman, with the tools of its own", async () => {
    const [, started] = ofType(events, "agent.started");
    expect(started!.data.streamPath).toBe(`/eve/foreman/v1/session/${started!.data.sessionId}/stream`);
    expect(started!.data.remote).toBeUndefined();
    const child = await eventsOf(foreman.api, started!.data.sessionId);
    expect(ofType(child, "session.started")[0]!.data.runtime).toMatchObject({
      agentId: "root/reviewer",
      agentName: "reviewer",
    });
    expect(ofType(child, "action.result").map(({ data }) => data.result.toolName)).toEqual(["readability"]);
    expect(ofType(child, "turn.started")).toHaveLength(1);
    expect(replyOf(child)).toBe(ofType(events, "task.settled")[1]!.data.output);
  });

  test("the reply uses both results", () => {
    const reply = replyOf(events);
    expect(reply).toContain("offline model");
    expect(reply).toContain("regular rise and fall of the sea");
    expect(reply).toMatch(/reviewer: .*words\W+\d+/);
  });

  test("a follow-up by task id reaches the same session of research", async () => {
    const { taskId, sessionId: childId } = ofType(events, "agent.started")[0]!.data;
    await say(foreman.api, sessionId, `Ask ${taskId} what a rainbow is`);
    const after = await eventsOf(foreman.api, sessionId);
    expect(ofType(after, "turn.started").map(({ data }) => data)).toEqual([
      { turnId: "turn_0", sequence: 0 },
      { turnId: "turn_1", sequence: 1 },
    ]);
    expect(ofType(after, "task.settled").at(-1)!.data).toMatchObject({ taskId, turnId: "turn_1", status: "completed" });
    expect(ofType(after, "agent.started")).toHaveLength(2);
    expect(replyOf(after)).toContain("42 degrees");
    const child = await eventsOf(research.api, childId);
    expect(ofType(child, "turn.started")).toHaveLength(2);
    expect(readStore(research.store).sessions.map(({ id }) => id)).toEqual([childId]);
  });

  test("a message is never answered with what an earlier turn was asked", async () => {
    await say(foreman.api, sessionId, "Use count_words: one two three");
    const after = await eventsOf(foreman.api, sessionId);
    expect(replyOf(after)).toMatch(/count_words: .*words\W+3\b/);
    expect(after.slice(0, events.length)).toEqual(events);
  });
});

describe("the order of events", () => {
  test("of a plain turn", async () => {
    const sessionId = await converse(foreman.api, "Hello");
    const events = await eventsOf(foreman.api, sessionId);
    expect(typesOf(events)).toEqual([
      "session.started",
      "turn.started",
      "message.received",
      "step.started",
      "message.completed",
      "step.completed",
      "turn.completed",
      "session.waiting",
    ]);
    const appended = events.findIndex(({ type }) => type === "message.appended");
    expect(events[appended - 1]!.type).toBe("step.started");
    expect(ofType(events, "message.received")[0]!.data).toEqual({
      turnId: "turn_0",
      sequence: 0,
      message: "Hello",
      parts: [{ type: "text", text: "Hello" }],
    });
    expect(ofType(events, "session.started")[0]!.data.runtime).toMatchObject({ agentId: "root", agentName: "foreman" });
    expect(ofType(events, "session.waiting")[0]!.data).toMatchObject({ wait: "next-user-message" });
  });

  test("of a turn with a tool", async () => {
    const sessionId = await converse(foreman.api, "Use count_words: one two three");
    const events = await eventsOf(foreman.api, sessionId);
    expect(typesOf(events)).toEqual([
      "session.started",
      "turn.started",
      "message.received",
      "step.started",
      "actions.requested",
      "step.completed",
      "action.result",
      "step.started",
      "message.completed",
      "step.completed",
      "turn.completed",
      "session.waiting",
    ]);
    expect(ofType(events, "step.completed").map(({ data }) => data.finishReason)).toEqual(["tool-calls", "stop"]);
    expect(ofType(events, "action.result")[0]!.data).toMatchObject({
      status: "completed",
      result: { output: { words: 3 } },
    });
  });

  test("a stream that is followed shows every event as it is stored, and no other", async () => {
    const sessionId = await converse(foreman.api, "Hello");
    await using reader = followEvents(`${foreman.api}/session/${sessionId}/stream`);
    await say(foreman.api, sessionId, "Ask reviewer to check: A tide is water.");
    await reader.untilEvent("the second pause", ({ event, index }) => event.type === "session.waiting" && index > 10);
    const again = await readLines(`${foreman.api}/session/${sessionId}/stream?follow=false`);
    expect(reader.events.map(({ line }) => line)).toEqual(again);
  });
});
