import type { EventData, EventType, MessagePart, Usage } from "../protocol/events.ts";
import type { Principal } from "../protocol/principal.ts";
import type {
  CallLimits,
  ContentPart,
  Control,
  Delivery,
  HistoryItem,
  JsonSchema,
  Outgoing,
  PendingCall,
  PendingWait,
  RemoteTarget,
  ReplyTo,
  SessionOrigin,
} from "./state.ts";

/**
 * Version of what entries mean, noted with every session. A later one folds the logs of all earlier ones: fields that
 * are added are optional, and what is no longer written is still read. One that a log needs to be folded otherwise, or
 * entries that an earlier version would misunderstand, make a new number.
 */
export const LOG_FORMAT = 2;

/**
 * The log of a session is a list of entries. Public ones are the events of its stream; `inner` is what only the
 * engine needs of them. The others never leave the store. State is the fold of the log, nothing else.
 */
interface Inner {
  "turn.started": { readonly principal: Principal };
  "message.received": {
    readonly deliveryIds: readonly string[];
    readonly replyTo?: ReplyTo;
    readonly context?: readonly string[];
    readonly outputSchema?: JsonSchema;
  };
  /** What the provider must get back; of a response with calls it stands with those. */
  "message.completed": { readonly content: readonly ContentPart[] };
  "step.failed": { readonly retryAfterMs: number };
  "actions.requested": { readonly content: readonly ContentPart[] };
  /** `kept`: how many items at the end of the history stay as they are behind the summary of those before. */
  "compaction.requested": { readonly kept: number };
  "compaction.completed": { readonly summary: string; readonly usage: Usage };
  "task.started": {
    readonly nodeId?: string;
    readonly remote?: RemoteTarget;
    readonly message: string;
    readonly limits?: CallLimits;
  };
  "task.settled": {
    /** The model reads this result; a reply that settles several calls is shown once (§6.3). */
    readonly show: boolean;
    /** What had its time is not broken: its task can be continued (§6.11). */
    readonly overdue?: boolean;
  };
}

export type PublicEntry = {
  [T in EventType]: {
    readonly public: true;
    readonly type: T;
    readonly data: EventData<T>;
    readonly inner?: T extends keyof Inner ? Inner[T] : undefined;
  };
}[EventType];

interface Facts {
  "session.opened": {
    readonly sessionId: string;
    readonly nodeId: string;
    readonly agentName: string;
    readonly origin: SessionOrigin;
    readonly initiator: Principal;
    /** Milliseconds since the epoch; absent: it never expires. */
    readonly expiresAt?: number;
    /** What a fork begins with: the other session's history up to and with the event `index`. */
    readonly fork?: { readonly sessionId: string; readonly index: number; readonly history: readonly HistoryItem[] };
  };
  "delivery.queued": { readonly delivery: Delivery };
  "delivery.dropped": { readonly deliveryId: string };
  "tasks.noted": { readonly text: string; readonly key: string };
  "results.shown": { readonly text: string; readonly count: number };
  "reply.reissued": { readonly text: string };
  /** The reply does not fit the schema that the turn asked for: the model is told why. */
  "output.refused": { readonly text: string };
  /** The model has begun to answer, and readers may have seen it. */
  "output.began": Readonly<Record<string, never>>;
  "control.queued": { readonly control: Control };
  "control.taken": Readonly<Record<string, never>>;
  /** The history stays as it is. */
  "compaction.failed": { readonly message: string };
  "call.sent": {
    readonly taskId: string;
    readonly callId: string;
    readonly remoteSessionId: string;
    readonly deliveryId: string | undefined;
  };
  /** The message of the call is not, or no longer, on its way to the remote. */
  "call.dropped": { readonly taskId: string; readonly callId: string };
  "call.read": { readonly taskId: string; readonly callIds: readonly string[]; readonly reply?: unknown };
  "call.requested": { readonly call: PendingCall };
  "wait.begun": { readonly wait: PendingWait };
  "call.interrupted": { readonly callId: string };
  "outgoing.queued": { readonly outgoing: Outgoing };
  "outgoing.done": { readonly id: string };
}

export type FactType = keyof Facts;
export type FactEntry = {
  [T in FactType]: { readonly public: false; readonly type: T; readonly data: Facts[T] };
}[FactType];

export type Entry = PublicEntry | FactEntry;

/** Text of a message without its files. */
export function textOf(parts: readonly MessagePart[]): string {
  return parts.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n");
}

export const NO_USAGE: Usage = { inputTokens: 0, outputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0 };

export function addUsage(a: Usage, b: Usage): Usage {
  const cost =
    a.costUsd === undefined && b.costUsd === undefined ? {} : { costUsd: addCost(a.costUsd ?? 0, b.costUsd ?? 0) };
  return {
    inputTokens: a.inputTokens + b.inputTokens,
    outputTokens: a.outputTokens + b.outputTokens,
    cacheReadTokens: a.cacheReadTokens + b.cacheReadTokens,
    cacheWriteTokens: a.cacheWriteTokens + b.cacheWriteTokens,
    ...cost,
  };
}

/** Without the noise of binary fractions: a sum of prices reads as one. */
function addCost(a: number, b: number): number {
  return Number((a + b).toFixed(12));
}
