import * as z from "zod";

/** Public events of a session's stream: the wire truth that the engine's types are inferred from (PROTOCOL, Events). */
export const STREAM_VERSION = 26;

const turn = z.object({ turnId: z.string(), sequence: z.number().int().nonnegative() });
const step = turn.extend({ stepIndex: z.number().int().nonnegative() });

const usage = z.object({
  inputTokens: z.number(),
  outputTokens: z.number(),
  cacheReadTokens: z.number(),
  cacheWriteTokens: z.number(),
  costUsd: z.number().optional(),
});

const part = z.union([
  z.object({ type: z.literal("text"), text: z.string() }),
  z.object({
    type: z.literal("file"),
    mediaType: z.string(),
    data: z.string().optional(),
    url: z.string().optional(),
    filename: z.string().optional(),
  }),
]);

const action = z.object({
  callId: z.string(),
  kind: z.enum(["tool-call", "subagent-call", "remote-agent-call"]),
  toolName: z.string().optional(),
  subagentName: z.string().optional(),
  remoteAgentName: z.string().optional(),
  nodeId: z.string().optional(),
  description: z.string().optional(),
  input: z.unknown(),
});

const task = z.object({
  taskId: z.string(),
  callId: z.string(),
  turnId: z.string(),
  name: z.string(),
  kind: z.enum(["agent", "tool"]),
});

/** Coordinates are there when it happens within a turn: before the step that they name. */
const compaction = z.object({
  turnId: z.string().optional(),
  sequence: z.number().int().nonnegative().optional(),
  stepIndex: z.number().int().nonnegative().optional(),
  modelId: z.string(),
  usageInputTokens: z.number(),
});

const failure = z.object({ code: z.string(), message: z.string(), details: z.unknown().optional() });

/** Event type → schema of its `data`. */
export const EVENT_SCHEMAS = {
  "session.started": z.object({
    runtime: z.object({ agentId: z.string(), agentName: z.string(), eveVersion: z.string() }),
    /** The session that this one was forked from, and the index of the last event it took over. */
    predecessor: z.object({ sessionId: z.string(), index: z.number().int() }).optional(),
  }),
  /** `retryOf`: the failed turn that this one does again. */
  "turn.started": turn.extend({ retryOf: z.string().optional() }),
  "message.received": turn.extend({ message: z.string(), parts: z.array(part) }),
  "step.started": step.extend({ modelId: z.string(), attempt: z.number().int().positive() }),
  "reasoning.appended": step.extend({ reasoningDelta: z.string() }),
  "message.appended": step.extend({ messageDelta: z.string() }),
  "reasoning.completed": step.extend({ reasoning: z.string(), finishReason: z.string() }),
  "message.completed": step.extend({ message: z.string(), finishReason: z.string() }),
  "result.completed": step.extend({ result: z.unknown() }),
  "actions.requested": step.extend({ actions: z.array(action).min(1) }),
  "action.result": step.extend({
    result: z.object({
      callId: z.string(),
      kind: z.literal("tool-result"),
      toolName: z.string(),
      output: z.unknown(),
    }),
    status: z.enum(["completed", "failed"]),
  }),
  "step.completed": step.extend({ finishReason: z.string(), usage }),
  /** `usage`: what a call cost that failed, when its provider said so. */
  "step.failed": step.extend({ ...failure.shape, usage: usage.optional() }),
  "task.started": task,
  "agent.started": z.object({
    callId: z.string(),
    turnId: z.string(),
    taskId: z.string().optional(),
    name: z.string(),
    sessionId: z.string(),
    streamPath: z.string(),
    remote: z.object({ url: z.string(), resolverId: z.string() }).optional(),
  }),
  "task.settled": task.extend({
    status: z.enum(["completed", "failed", "cancelled"]),
    output: z.unknown().optional(),
    error: z.object({ code: z.string().optional(), message: z.string() }).optional(),
    cancel: z.object({ reason: z.enum(["task_cancel", "turn_cancelled", "turn_ended"]) }).optional(),
  }),
  "turn.waiting": turn.extend({ on: z.enum(["input", "tasks"]), usage }),
  "turn.completed": turn,
  "turn.cancelled": turn,
  "turn.failed": turn.extend(failure.shape),
  "compaction.requested": compaction,
  "compaction.completed": compaction,
  "context.cleared": compaction,
  "session.waiting": z.object({
    wait: z.literal("next-user-message"),
    usage,
    continuationToken: z.string(),
  }),
  "session.completed": z.object({ usage, reason: z.string().optional() }),
} as const;

export type EventType = keyof typeof EVENT_SCHEMAS;
export type EventData<T extends EventType> = z.infer<(typeof EVENT_SCHEMAS)[T]>;
export type MessagePart = z.infer<typeof part>;
export type Action = z.infer<typeof action>;
export type Usage = z.infer<typeof usage>;

/** One line of a stream. `meta.id` is minted once, when the event is stored. */
export const eventSchema = z.object({
  type: z.enum(Object.keys(EVENT_SCHEMAS) as [EventType, ...EventType[]]),
  data: z.record(z.string(), z.unknown()),
  meta: z.object({
    id: z.string().regex(/^evt_[0-9A-HJKMNP-TV-Z]{26}$/),
    at: z.iso.datetime(),
    deliveryIds: z.array(z.string()).optional(),
  }),
});

export type StreamEvent = {
  [T in EventType]: {
    readonly type: T;
    readonly data: EventData<T>;
    readonly meta: { readonly id: string; readonly at: string; readonly deliveryIds?: readonly string[] };
  };
}[EventType];
