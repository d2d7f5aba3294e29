import type { EventType, StreamEvent } from "../protocol/events.ts";

interface Turn {
  readonly turnId: string;
  readonly sequence: number;
}

interface Step extends Turn {
  readonly stepIndex: number;
}

/** A question to a person: an approval, a question of a tool, or a limit that was reached. */
export interface InputRequest {
  readonly requestId: string;
  readonly kind: "tool-approval" | "question" | "session-limit";
  readonly prompt: string;
  readonly display?: "confirmation" | "select" | "text";
  readonly options?: readonly {
    readonly id: string;
    readonly label: string;
    readonly description?: string;
    readonly style?: "danger" | "default" | "primary";
  }[];
  readonly allowFreeform?: boolean;
  readonly action: { readonly callId: string; readonly kind: "tool-call"; readonly toolName: string; input: unknown };
}

/** The answer to an {@link InputRequest}: one of its options, or text of one's own. */
export interface InputResponse {
  readonly requestId: string;
  readonly optionId?: string;
  readonly text?: string;
}

interface InputResolution {
  readonly requestId: string;
  readonly kind: InputRequest["kind"];
  readonly outcome: string;
  readonly response?: InputResponse;
}

interface SignIn extends Step {
  readonly name: string;
  readonly attemptId?: string;
  readonly taskId?: string;
}

interface Compaction extends Step {
  readonly modelId: string;
  readonly sessionId: string;
}

/**
 * Events of the protocol for which there is no schema in `protocol/` yet, because no member sends them; servers of eve
 * do. What gets a schema there is taken from there.
 */
interface FurtherEvents {
  "action.input.appended": Step & {
    readonly callId: string;
    readonly toolName: string;
    readonly inputTextDelta: string;
  };
  "action.partial": Step & {
    readonly result: { readonly callId: string; readonly toolName: string; readonly output: unknown };
  };
  "input.requested": Step & {
    readonly requests: readonly InputRequest[];
    readonly callId?: string;
    readonly taskId?: string;
  };
  "input.resolved": Step & { readonly resolutions: readonly InputResolution[] };
  "approval.candidate": Step & { readonly requestId: string; readonly responderPrincipalId?: string };
  "approval.settled": Step & { readonly requestId: string; readonly outcome: string; readonly reason?: string };
  "authorization.required": SignIn & {
    readonly description: string;
    readonly authorization?: {
      readonly url?: string;
      readonly userCode?: string;
      readonly expiresAt?: string;
      readonly instructions?: string;
    };
  };
  "authorization.completed": SignIn & { readonly outcome: string; readonly reason?: string };
  "result.completed": Step & { readonly result: unknown };
  "compaction.requested": Compaction & { readonly usageInputTokens: number | null };
  "compaction.completed": Compaction;
  "context.cleared": Turn & { readonly sessionId: string };
  "session.failed": { readonly code: string; readonly message: string; readonly details?: unknown };
}

/**
 * One event of a session's stream; `type` tells what `data` holds. `meta.id` is the same however often, and over how
 * many connections, the event is read.
 *
 * @example
 * if (event.type === "message.appended") process.stdout.write(event.data.messageDelta);
 */
export type MessageStreamEvent =
  | StreamEvent
  | {
      [T in Exclude<keyof FurtherEvents, EventType>]: {
        readonly type: T;
        readonly data: FurtherEvents[T];
        readonly meta: StreamEvent["meta"];
      };
    }[Exclude<keyof FurtherEvents, EventType>];

export type EventOf<T extends MessageStreamEvent["type"]> = Extract<MessageStreamEvent, { readonly type: T }>;

/** True for an event behind which a turn asks its caller for something, or the session for its next message. */
export function isCurrentTurnBoundaryEvent(event: MessageStreamEvent): boolean {
  return event.type === "session.waiting" || isTerminal(event) || isInputWait(event);
}

/** True for the last event of a session. */
export function isTerminal({ type }: MessageStreamEvent): boolean {
  return /^session\.(completed|failed)$/.test(type);
}

/** True when the turn goes on only after a person did something. */
export function isInputWait(event: MessageStreamEvent): boolean {
  return event.type === "turn.waiting" && event.data.on === "input";
}

/** True for an event of the turn that reads this delivery. */
export function isOfDelivery({ meta }: MessageStreamEvent, deliveryId: string): boolean {
  return meta.deliveryIds?.includes(deliveryId) === true;
}

/** The turn that an event belongs to. Servers of eve leave out `data` where it would be empty. */
export function turnIdOf({ data }: MessageStreamEvent): string | undefined {
  return (data as { readonly turnId?: string } | undefined)?.turnId;
}
