import { describe, expect, it } from "vitest";
import { wrapDelegation } from "../../engine/text.ts";
import { EVENT_SCHEMAS, eventSchema, type StreamEvent } from "../../protocol/events.ts";
import { renderEvent } from "./render-event.ts";

const turn = { turnId: "turn_0", sequence: 0 };
const step = { ...turn, stepIndex: 0 };
const usage = { inputTokens: 1, outputTokens: 1, cacheReadTokens: 0, cacheWriteTokens: 0 };
const task = { taskId: "far-abc123", callId: "c", turnId: "turn_0", name: "far", kind: "agent" };
const runtime = { agentId: "root", agentName: "lead", eveVersion: "1" };
const compaction = { modelId: "m", usageInputTokens: 1 };

type Row = readonly [type: keyof typeof EVENT_SCHEMAS, data: Record<string, unknown>, ...said: string[]];

/** What is said of an event: `what: text`. */
const ROWS: readonly Row[] = [
  ["session.started", { runtime }],
  ["session.started", { runtime, predecessor: { sessionId: "ses_1", index: 7 } }, "fork: of ses_1 at event 7"],
  ["turn.started", turn, "turn: turn_0"],
  ["turn.started", { ...turn, turnId: "turn_1", retryOf: "turn_0" }, "turn: turn_1, which is turn_0 again"],
  ["message.received", { ...turn, message: "hi", parts: [{ type: "text", text: "hi" }] }, "message: hi"],
  ["message.received", { ...turn, message: wrapDelegation("hi"), parts: [] }, "message: hi"],
  [
    "message.received",
    { ...turn, message: "see", parts: [{ type: "file", mediaType: "image/png", filename: "a.png", data: "AA==" }] },
    "message: see\n[image/png a.png]",
  ],
  ["step.started", { ...step, modelId: "m", attempt: 1 }],
  ["reasoning.appended", { ...step, reasoningDelta: "hm" }],
  ["message.appended", { ...step, messageDelta: "h" }],
  ["reasoning.completed", { ...step, reasoning: "hm", finishReason: "stop" }],
  ["message.completed", { ...step, message: "hello", finishReason: "stop" }, "says: hello"],
  ["message.completed", { ...step, message: "", finishReason: "tool-calls" }],
  ["result.completed", { ...step, result: { a: 1 } }, 'result: {"a":1}'],
  [
    "actions.requested",
    {
      ...step,
      actions: [
        { callId: "a", kind: "tool-call", toolName: "add", input: { a: 1 } },
        { callId: "b", kind: "subagent-call", subagentName: "helper", input: "x" },
        { callId: "c", kind: "remote-agent-call", remoteAgentName: "far", input: null },
      ],
    },
    'calls: add {"a":1}',
    "calls: helper x",
    "calls: far null",
  ],
  [
    "action.result",
    { ...step, status: "completed", result: { callId: "a", kind: "tool-result", toolName: "add", output: { sum: 1 } } },
    'returns: add {"sum":1}',
  ],
  [
    "action.result",
    {
      ...step,
      status: "failed",
      result: { callId: "a", kind: "tool-result", toolName: "add", output: "TOOL_FAILED no" },
    },
    "failed: add TOOL_FAILED no",
  ],
  ["step.completed", { ...step, finishReason: "stop", usage }],
  ["step.failed", { ...step, code: "MODEL_FAILED", message: "No." }, "failed: model call: MODEL_FAILED No."],
  ["task.started", task, "task: far-abc123 started"],
  [
    "agent.started",
    { callId: "c", turnId: "turn_0", name: "far", sessionId: "ses_2", streamPath: "/x" },
    "agent: far ses_2",
  ],
  [
    "agent.started",
    {
      callId: "c",
      turnId: "turn_0",
      name: "far",
      sessionId: "ses_2",
      streamPath: "/x",
      remote: { url: "https://far.example", resolverId: "far.ts" },
    },
    "agent: far ses_2 at https://far.example",
  ],
  ["task.settled", { ...task, status: "completed", output: "done" }, "task: far-abc123 completed: done"],
  ["task.settled", { ...task, status: "completed" }, "task: far-abc123 completed"],
  ["task.settled", { ...task, status: "failed", error: { message: "No." } }, "task: far-abc123 failed: No."],
  [
    "task.settled",
    { ...task, status: "cancelled", cancel: { reason: "turn_ended" } },
    "task: far-abc123 cancelled: turn_ended",
  ],
  ["turn.waiting", { ...turn, on: "tasks", usage }],
  ["turn.completed", turn, "turn: turn_0 completed"],
  ["turn.cancelled", turn, "turn: turn_0 cancelled"],
  ["turn.failed", { ...turn, code: "MODEL_FAILED", message: "No." }, "failed: turn_0: MODEL_FAILED No."],
  ["compaction.requested", compaction],
  ["compaction.completed", compaction, "history: became a summary"],
  ["context.cleared", compaction, "history: was forgotten"],
  ["session.waiting", { wait: "next-user-message", usage, continuationToken: "t" }],
  ["session.completed", { usage }, "ended: "],
  ["session.completed", { usage, reason: "timeout" }, "ended: timeout"],
];

describe("renderEvent", () => {
  it.each(ROWS)("%s %j", (...row) => {
    const [type, data, ...said] = row as unknown as Row;
    const meta = { id: "evt_00000000000000000000000000", at: "2026-12-01T00:00:00.000Z" };
    const event = { type, data: EVENT_SCHEMAS[type].parse(data), meta };
    expect(eventSchema.safeParse(event).success).toBe(true);
    expect(renderEvent(event as StreamEvent).map(({ what, text }) => `${what}: ${text}`)).toEqual(said);
  });

  it("was asked about every type there is", () => {
    expect(new Set(ROWS.map(([type]) => type))).toEqual(new Set(Object.keys(EVENT_SCHEMAS)));
  });
});
