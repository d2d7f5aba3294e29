import type { Usage } from "../protocol/events.ts";
import type { Principal } from "../protocol/principal.ts";
import type { Entry } from "./entry.ts";
import type {
  ContentPart,
  Control,
  Delivery,
  HistoryItem,
  RemoteTarget,
  SessionOrigin,
  SessionState,
} from "./state.ts";

/** The first input of every session. */
export interface OpenInput {
  readonly kind: "open";
  readonly nodeId: string;
  readonly agentName: string;
  readonly origin: SessionOrigin;
  readonly initiator: Principal;
  readonly first?: Delivery;
  /** Another session whose history this one goes on with. */
  readonly fork?: { readonly sessionId: string; readonly index: number; readonly history: readonly HistoryItem[] };
}

/** A child's turn ended; it read the messages of `callIds`. */
export interface ChildSettledInput {
  readonly kind: "child.settled";
  readonly callIds: readonly string[];
  /** Where the child is, from a callback that came before the answer to the request that created it. */
  readonly remote?: { readonly sessionId: string; readonly url: string };
  readonly status: "completed" | "failed" | "cancelled";
  readonly output?: unknown;
  readonly error?: { readonly code: string; readonly message: string };
}

/** What reaches a session from outside it, accepted durably and processed in order. */
export type MailInput =
  | OpenInput
  | { readonly kind: "deliver"; readonly delivery: Delivery }
  | { readonly kind: "cancel"; readonly turnId?: string }
  /** `retry`: does the failed turn `turnId` again. */
  | Control
  | { readonly kind: "reset"; readonly reason?: string }
  | ChildSettledInput;

/** A call in a model's response, resolved against the registry by whoever ran the model. */
export type ResolvedCall = {
  readonly callId: string;
  readonly name: string;
  readonly input: unknown;
  readonly target:
    | { readonly kind: "tool"; readonly onInterrupt: "retry" | "fail" }
    | { readonly kind: "local"; readonly nodeId: string; readonly description: string }
    | { readonly kind: "remote"; readonly remote: RemoteTarget; readonly description: string }
    /** `eve__task_wait`: parks the turn until a task has a result, for so long at most. */
    | { readonly kind: "wait"; readonly timeoutMs?: number }
    /** `eve__task_cancel` */
    | { readonly kind: "stop"; readonly taskId: string }
    /** Nothing the model may call: the answer says why. */
    | { readonly kind: "refused"; readonly code: string; readonly message: string };
};

/** How an effect ended, or that a crash interrupted it. */
export type EffectInput =
  | {
      readonly kind: "model.responded";
      readonly text: string;
      readonly reasoning: string;
      readonly finishReason: string;
      readonly calls: readonly ResolvedCall[];
      /** Only when text and calls alone are not what the provider must get back. */
      readonly content?: readonly ContentPart[];
      readonly usage: Usage;
      /** What the text is by the turn's output schema; there when the turn has one and nothing is called. */
      readonly output?:
        | { readonly valid: true; readonly value: unknown }
        | { readonly valid: false; readonly problem: string };
    }
  /** The model has begun to answer: sent before the first text of it is shown. */
  | { readonly kind: "model.began" }
  | { readonly kind: "compaction.finished"; readonly summary: string; readonly usage: Usage }
  | { readonly kind: "compaction.failed"; readonly message: string }
  | {
      readonly kind: "model.failed";
      readonly code: string;
      readonly message: string;
      readonly retryable: boolean;
      /** The status and the like, for programs; public. */
      readonly details?: Readonly<Record<string, unknown>>;
      /** What the call cost, as far as its provider said. */
      readonly usage?: Usage;
      /** Wait before the next call of this step. */
      readonly retryAfterMs?: number;
    }
  | {
      readonly kind: "tool.settled";
      readonly callId: string;
      readonly status: "completed" | "failed";
      readonly output: unknown;
    }
  | {
      readonly kind: "remote.accepted";
      readonly taskId: string;
      readonly callId: string;
      readonly remoteSessionId: string;
      /** The remote's own id of the message: finds the turn that reads it in the remote's stream. */
      readonly deliveryId: string | undefined;
      /** Address of the remote, for people to read. */
      readonly url: string;
    }
  | {
      readonly kind: "remote.failed";
      readonly taskId: string;
      readonly callId: string;
      readonly code: string;
      readonly message: string;
    }
  | ChildSettledInput
  /** A call had its time (§6.11). */
  | {
      readonly kind: "call.overdue";
      readonly taskId: string;
      readonly callId: string;
      readonly code: "TASK_TIMEOUT" | "TASK_SILENT";
    }
  | { readonly kind: "outgoing.done"; readonly id: string }
  | { readonly kind: "effect.interrupted"; readonly effectId: string }
  /** Whoever runs the effect gave it up: it has no result of its own. */
  | { readonly kind: "effect.failed"; readonly effectId: string; readonly message: string };

/** A {@link deadline} of the session may have come: `now` of the surroundings tells. */
export interface TimePassedInput {
  readonly kind: "time.passed";
}

/** The host could not have a message processed: it is settled without, so that those behind it are read. */
export interface MailRejectedInput {
  readonly kind: "mail.rejected";
  readonly mail: MailInput;
}

export type Input = MailInput | EffectInput | MailRejectedInput | TimePassedInput;

/** In milliseconds. */
export interface TaskLimits {
  readonly timeoutMs?: number;
  readonly silenceMs?: number;
}

/** What the core may know of the world while it decides; recorded in entries, so a replay needs none of it. */
export interface Surroundings {
  /** Id of this session. */
  readonly sessionId: string;
  readonly modelId: string;
  readonly eveVersion: string;
  /** Milliseconds since the epoch. */
  readonly now: number;
  /** Estimated tokens of a prompt from which on the history is shortened; absent: never. */
  readonly compactAt?: number;
  /** How long one call of an agent may take, and how long its child may show no event; absent: for ever (§6.11). */
  readonly taskLimits?: TaskLimits;
  /** How long a session may live; absent: for ever. */
  readonly sessionTimeoutMs?: number;
  /** Public path of this member's API, e.g. `/eve/foreman/v1`. */
  readonly base: string;
  /** A fresh session id. */
  readonly newSessionId: () => string;
  /** `length` random characters of [a-z0-9]. */
  readonly random: (length: number) => string;
}

/** A message to another session of the same store, written in the transaction of the entries. */
export interface Post {
  readonly sessionId: string;
  /** The same id is the same message. */
  readonly id: string;
  readonly input: MailInput;
}

export interface Advance {
  readonly entries: readonly Entry[];
  readonly posts: readonly Post[];
  /** The state with the entries folded in. */
  readonly state: SessionState | undefined;
}
