import type { MessagePart, Usage } from "../protocol/events.ts";
import type { Principal } from "../protocol/principal.ts";

/** Who opened a session, and so who hears of its turns. */
export type SessionOrigin =
  | { readonly kind: "root" }
  | { readonly kind: "local"; readonly parentSessionId: string; readonly taskId: string }
  | { readonly kind: "remote" };

/** Where the reply of the turn that reads a message goes. */
export type ReplyTo =
  | { readonly kind: "local"; readonly callId: string }
  | {
      readonly kind: "callback";
      readonly callId: string;
      readonly subagentName: string;
      readonly url: string;
      readonly token: string;
    };

export interface Delivery {
  readonly deliveryId: string;
  readonly parts: readonly MessagePart[];
  readonly principal: Principal;
  readonly policy: "steer" | "queue";
  readonly replyTo?: ReplyTo;
  /** What the model may know of the sender's situation, during the turn that reads the message. */
  readonly context?: readonly string[];
  /** What the turn's reply must be. */
  readonly outputSchema?: JsonSchema;
}

export type JsonSchema = Readonly<Record<string, unknown>>;

/** What a person may ask for between two turns (§16). */
export type Control =
  | { readonly kind: "compact" | "clear" }
  | { readonly kind: "retry"; readonly turnId: string; readonly principal: Principal };

/** What the model has seen and said, in order. */
export type HistoryItem =
  | { readonly role: "user"; readonly parts: readonly MessagePart[]; readonly context?: readonly string[] }
  | {
      readonly role: "note";
      readonly text: string;
      /** It stands for all that was said before it. */
      readonly summary?: true;
      /** Of the messages it stands for, while their turn goes on. */
      readonly context?: readonly string[];
    }
  | {
      readonly role: "assistant";
      readonly stepKey: string;
      readonly text: string;
      readonly calls: readonly HistoryCall[];
      /** Absent: the text, then the calls, and nothing that the provider wants back. */
      readonly content?: readonly ContentPart[];
    }
  | {
      readonly role: "tool";
      readonly callId: string;
      readonly toolName: string;
      readonly output: unknown;
      readonly failed: boolean;
    };

/**
 * A piece of a response in the order the model gave it, with what its provider must get back unchanged, such as the
 * signature of a thought. Texts and calls are those of the item: the next `length` characters, the next call.
 */
export type ContentPart = (
  | { readonly type: "text"; readonly length: number }
  | { readonly type: "reasoning"; readonly text: string }
  | { readonly type: "call" }
  /** Something that only its provider understands. */
  | { readonly type: "custom"; readonly kind: string }
) & { readonly providerMetadata?: ProviderMetadata };

/** JSON of a provider's own, by its name. */
export type ProviderMetadata = Readonly<Record<string, Readonly<Record<string, unknown>>>>;

export interface HistoryCall {
  readonly callId: string;
  readonly toolName: string;
  readonly input: unknown;
}

/** A tool call that the current step waits for. */
export interface PendingCall {
  readonly callId: string;
  readonly toolName: string;
  readonly input: unknown;
  readonly stepIndex: number;
  readonly onInterrupt: "retry" | "fail";
  /** How often a crash stopped it; absent: never. */
  readonly interruptions?: number;
}

/** A call of `eve__task_wait` that the current step waits for (§6.8). */
export interface PendingWait {
  readonly callId: string;
  readonly toolName: string;
  /** Milliseconds since the epoch; absent: as long as it takes. */
  readonly until?: number;
}

export interface UnreadResult {
  readonly taskId: string;
  readonly tool: string;
  readonly status: "completed" | "failed" | "cancelled";
  readonly text: string;
}

export interface Turn {
  readonly turnId: string;
  readonly sequence: number;
  /** Who the turn runs as (§18.5). */
  readonly principal: Principal;
  /**
   * `model`: a model call is due; `calls`: tool calls are; `tasks`: held until a task settles (§6.6); `compact`: the
   * next step waits for a shorter history.
   */
  readonly phase: "model" | "calls" | "tasks" | "compact";
  readonly stepIndex: number;
  readonly attempt: number;
  /** Failed provider calls of the current step (§19). */
  readonly failures: number;
  /** Wait before the next provider call, as the last failure asks for. */
  readonly retryAfterMs: number | undefined;
  readonly pending: Readonly<Record<string, PendingCall>>;
  readonly waits: readonly PendingWait[];
  /** Task results that the model has not read yet. */
  readonly results: readonly UnreadResult[];
  readonly replyTo: readonly ReplyTo[];
  readonly reply: string;
  readonly usage: Usage;
  /** The step whose empty reply was asked for once more (§19). */
  readonly reissued: number | undefined;
  /** The current attempt has begun to answer: a message no longer restarts it (§16). */
  readonly spoke: boolean;
  /** How many tokens the prompt had when a shorter history was asked for, or has had since there is one. */
  readonly compactedAt: number | undefined;
  readonly outputSchema: JsonSchema | undefined;
  /** Replies that did not fit `outputSchema`. */
  readonly refusals: number;
  /** What fitted it. */
  readonly result: { readonly value: unknown } | undefined;
}

/** A turn that failed and may be done again. */
export interface FailedTurn {
  readonly turnId: string;
  readonly principal: Principal;
  readonly outputSchema: JsonSchema | undefined;
}

/** A summary under way. */
export interface Compaction {
  /** How many items at the end of the history are not part of it. */
  readonly kept: number;
  readonly usageInputTokens: number;
}

/** A subagent elsewhere, as the registry names it. */
export interface RemoteTarget {
  readonly name: string;
  readonly source: string;
}

/** When a call has had its time (§6.11). */
export interface CallLimits {
  /** Milliseconds since the epoch. */
  readonly deadline?: number;
  /** Milliseconds without an event of the child. */
  readonly silenceMs?: number;
}

/** One call of an agent tool that waits for the child's reply. */
export interface TaskCall {
  readonly callId: string;
  readonly turnId: string;
  readonly message: string;
  readonly principal: Principal;
  readonly limits?: CallLimits;
  /** Remote only: the other side has accepted the message. */
  readonly sent: boolean;
  /** Remote only: what the other side calls the message. */
  readonly deliveryId?: string | undefined;
  /** Remote only: how many messages of the task the other side had accepted before this one. */
  readonly position?: number;
  /** Settled before the other side accepted it; kept so that its work is cancelled once it has. */
  readonly abandoned: boolean;
  /** The child has folded the message into a turn that ended, with this reply. */
  readonly read: boolean;
  readonly reply?: unknown;
}

export interface Task {
  readonly taskId: string;
  readonly tool: string;
  readonly status: "working" | "idle" | "ended";
  readonly nodeId?: string;
  readonly remote?: RemoteTarget;
  /** Absent until the remote answered the create. */
  readonly childSessionId?: string;
  /** The call that `agent.started` announced the child with. */
  readonly openedBy?: string;
  readonly waiting: readonly TaskCall[];
  /** Remote only: messages that the other side has accepted. */
  readonly accepted?: number;
  /** Rises with every use: orders the idle tasks of the note. */
  readonly used: number;
}

/** A request to another deployment that must arrive, though nobody waits for it in a turn. */
export type Outgoing =
  | {
      readonly id: string;
      readonly kind: "callback";
      readonly url: string;
      readonly token: string;
      readonly body: Readonly<Record<string, unknown>>;
    }
  | {
      readonly id: string;
      readonly kind: "cancel" | "reset";
      readonly remote: RemoteTarget;
      readonly remoteSessionId: string;
      readonly principal: Principal;
    };

/** What a kept state looks like: rises when states of before can not be read as one of now. */
export const STATE_FORMAT = 2;

export interface SessionState {
  readonly format: typeof STATE_FORMAT;
  readonly sessionId: string;
  readonly nodeId: string;
  readonly agentName: string;
  readonly origin: SessionOrigin;
  readonly initiator: Principal;
  readonly started: boolean;
  readonly ended: boolean;
  /** The session ends at this time, or with the turn that is under way then. */
  readonly expiresAt: number | undefined;
  readonly nextSequence: number;
  readonly turn: Turn | undefined;
  /** The last turn, when it failed. */
  readonly failed: FailedTurn | undefined;
  readonly controls: readonly Control[];
  readonly compaction: Compaction | undefined;
  /** How often the history was to be shortened: calls before that may be forgotten, and their ids come again. */
  readonly compactions: number;
  /** How long the prompt is: tokens as the provider last counted them, and characters that were added since. */
  readonly prompt: { readonly tokens: number; readonly characters: number };
  readonly forkedFrom: { readonly sessionId: string; readonly index: number } | undefined;
  readonly queue: readonly Delivery[];
  readonly history: readonly HistoryItem[];
  readonly tasks: Readonly<Record<string, Task>>;
  readonly taskUses: number;
  readonly outbox: readonly Outgoing[];
  readonly usage: Usage;
  /** What the last `[Tasks]` note said, to append another only when that changed. */
  readonly notedTasks: string;
}
