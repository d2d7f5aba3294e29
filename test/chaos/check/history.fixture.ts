import type { StreamEvent } from "../../../packages/runtime/src/protocol/events.ts";
import { toMessage } from "../../fixtures/chaos/lib/program.ts";
import type { Effect, History } from "../history.ts";

type Writable<T> = T extends readonly (infer Item)[]
  ? Writable<Item>[]
  : T extends object
    ? { -readonly [Key in keyof T]: Writable<T[Key]> }
    : T;

/** A history that can be broken. */
export type Draft = Writable<History>;
type Line = readonly [type: StreamEvent["type"], data: object, deliveryId?: string];

const START = Date.UTC(2026, 0, 1);
const USAGE = { inputTokens: 1, outputTokens: 1, cacheReadTokens: 0, cacheWriteTokens: 0 };
const WORKER = { taskId: "worker-000001", callId: "c2", turnId: "turn_0", name: "worker" };

/**
 * A run that kept every promise. One turn calls a tool, which the death of the caller interrupts, and a child; the
 * next one is cancelled; in the last one a message joins another.
 */
export function soundHistory(): Draft {
  const lines = toLines("ses_a", 0, [
    ["session.started", { runtime: { agentId: "root", agentName: "caller", eveVersion: "0" } }],
    ...turn(0, [
      ["turn.started", {}],
      received("m0"),
      ...asks(0, [
        { callId: "c1", kind: "tool-call", toolName: "work", input: { id: "m0#0.0", ms: 1 } },
        { callId: "c2", kind: "subagent-call", subagentName: "worker", input: { message: toMessage(run("m0#0.1")) } },
      ]),
      ["task.started", { ...WORKER, kind: "agent" }],
      answers(0, "c2", "worker", "Task worker-000001 is at work"),
      ["agent.started", { ...WORKER, sessionId: "ses_w", streamPath: "/ses_w" }],
      answers(0, "c1", "work", { did: "m0#0.0" }),
      ...says(1, "m0#1 said"),
      ["turn.waiting", { on: "tasks", usage: USAGE }],
      ["task.settled", { ...WORKER, kind: "agent", status: "completed", output: "m0#0.1#0 said" }],
      ...says(2, "m0#2 is the end of m0."),
      ["turn.completed", {}],
    ]),
    WAITING,
    ...turn(1, [
      ["turn.started", {}],
      received("m1"),
      ...asks(0, [{ callId: "c3", kind: "tool-call", toolName: "work", input: { id: "m1#0.0", ms: 1 } }]),
      ["turn.cancelled", {}],
    ]),
    WAITING,
    ...turn(2, [["turn.started", {}], received("m2"), received("m3"), ...says(0, "m3#0 said"), ["turn.completed", {}]]),
    WAITING,
  ]);
  const childLines = toLines("ses_w", 60, [
    ["session.started", { runtime: { agentId: "root/worker", agentName: "worker", eveVersion: "0" } }],
    ...turn(0, [["turn.started", {}], received("m0#0.1"), ...says(0, "m0#0.1#0 said"), ["turn.completed", {}]]),
    WAITING,
  ]);
  return {
    messages: [message("m0", "create"), message("m1", "queue"), message("m2", "queue"), message("m3", "steer")],
    stops: [{ kind: "cancel", sessionId: "ses_a", turnId: "turn_1", ...stoppedAt(268) }],
    deaths: [{ member: "caller", pid: 1, at: START + 83, cause: "signal: time", upAt: START, backAt: START + 88 }],
    unfinished: [],
    streams: [
      { sessionId: "ses_a", member: "caller", lines, reads: [{ what: "followed", from: 2, lines: lines.slice(2, 9) }] },
      {
        sessionId: "ses_w",
        member: "caller",
        parent: { sessionId: "ses_a", callId: "c2", taskId: "worker-000001" },
        lines: childLines,
        reads: [],
      },
    ],
    effects: [
      effect("model", "caller", "m0#0", 35, 1),
      effect("tool", "work", "ses_a:turn_0:c1", 81, 1),
      effect("model", "worker", "m0#0.1#0", 82, 1),
      effect("model", "worker", "m0#0.1#0", 89, 2),
      effect("tool", "work", "ses_a:turn_0:c1", 89, 2),
      effect("tool.done", "work", "ses_a:turn_0:c1", 89, 2),
      effect("model", "caller", "m0#1", 105, 2),
      { ...effect("model", "caller", "m0#2", 155, 2), read: ["m0#0.1#0"] },
      { ...effect("model", "caller", "m1#0", 235, 2), read: ["m0#0.1#0"] },
      effect("tool", "work", "ses_a:turn_1:c3", 262, 2),
      effect("tool.stopped", "work", "ses_a:turn_1:c3", 271, 2),
      effect("model", "caller", "m3#0", 325, 2),
    ],
  };
}

/** Changes the events of a stream. What readers had seen stays. */
export function edit({ streams }: Draft, sessionId: string, change: (events: any[]) => readonly unknown[]): void {
  const stream = streams.find((candidate) => candidate.sessionId === sessionId)!;
  stream.lines = change(stream.lines.map((line) => JSON.parse(line))).map((event) => JSON.stringify(event));
}

/** A line of the record of effects, `at` milliseconds after the start. */
export function effect(kind: string, node: string, key: string, at: number, pid: number): Writable<Effect> {
  return { member: "caller", kind, node, key, at: START + at, pid };
}

function message(id: string, policy: "create" | "steer" | "queue"): Draft["messages"][number] {
  const answers = [{ sessionId: "ses_a", deliveryId: `d_${id}`, at: START + 1 }];
  return { run: id, text: toMessage(run(id)), policy, sentAt: START, attempts: 1, answers };
}

function stoppedAt(at: number): { askedAt: number; answeredAt: number; status: string } {
  return { askedAt: START + at, answeredAt: START + at + 1, status: "accepted" };
}

function run(id: string): { id: string; steps: [] } {
  return { id, steps: [] };
}

/** One event every 10 ms, with ids that are the same each time. */
function toLines(sessionId: string, from: number, lines: readonly Line[]): string[] {
  return lines.map(([type, data, deliveryId], index) => {
    const id = `evt_${(sessionId === "ses_a" ? "A" : "B").padEnd(20, "0")}${String(index).padStart(6, "0")}`;
    const deliveryIds = deliveryId === undefined ? {} : { deliveryIds: [deliveryId] };
    const at = new Date(START + from + index * 10).toISOString();
    return JSON.stringify({ type, data, meta: { id, at, ...deliveryIds } });
  });
}

function turn(sequence: number, lines: readonly Line[]): Line[] {
  return lines.map(([type, data, ...rest]) => [type, { turnId: `turn_${sequence}`, sequence, ...data }, ...rest]);
}

const WAITING: Line = ["session.waiting", { wait: "next-user-message", usage: USAGE, continuationToken: "ses" }];

function received(id: string): Line {
  return ["message.received", { message: toMessage(run(id)), parts: [] }, `d_${id}`];
}

function asks(stepIndex: number, actions: readonly object[]): Line[] {
  return [
    ["step.started", { stepIndex, modelId: "m", attempt: 1 }],
    ["actions.requested", { stepIndex, actions }],
    ["step.completed", { stepIndex, finishReason: "tool-calls", usage: USAGE }],
  ];
}

function says(stepIndex: number, text: string): Line[] {
  return [
    ["step.started", { stepIndex, modelId: "m", attempt: 1 }],
    ["message.appended", { stepIndex, messageDelta: text }],
    ["message.completed", { stepIndex, message: text, finishReason: "stop" }],
    ["step.completed", { stepIndex, finishReason: "stop", usage: USAGE }],
  ];
}

function answers(stepIndex: number, callId: string, toolName: string, output: unknown): Line {
  const result = { callId, kind: "tool-result", toolName, output };
  return ["action.result", { stepIndex, result, status: "completed" }];
}
