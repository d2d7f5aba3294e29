/** What was seen of a run from outside: what was sent, what the streams said, what the members did, who died. */
export interface History {
  readonly messages: readonly Message[];
  readonly stops: readonly Stop[];
  readonly streams: readonly Stream[];
  readonly effects: readonly Effect[];
  readonly deaths: readonly Death[];
  /** What kept the run from its end, when its time was up. */
  readonly unfinished: readonly string[];
}

export type MemberName = "caller" | "peer";

/** A message of a person: sent under one operation id until it was answered. */
export interface Message {
  /** Id of the run that it asks for. */
  readonly run: string;
  readonly text: string;
  readonly policy: "create" | "steer" | "queue";
  readonly sentAt: number;
  attempts: number;
  /** Every 202. */
  readonly answers: { readonly sessionId: string; readonly deliveryId: string; readonly at: number }[];
  /** Any other final answer. */
  refusal?: string;
}

/** A cancel or a reset, asked until it was answered. */
export interface Stop {
  readonly kind: "cancel" | "reset";
  readonly sessionId: string;
  readonly turnId?: string;
  readonly askedAt: number;
  /** `accepted`, `no_active_turn`, `reset`, …, and when it was answered. */
  status?: string;
  answeredAt?: number;
}

export interface Stream {
  readonly sessionId: string;
  readonly member: MemberName;
  /** The call that opened the session; absent when a person did. */
  readonly parent?: { readonly sessionId: string; readonly callId: string; readonly taskId: string };
  /** No stream announced it: its tools did. */
  readonly isHidden?: boolean;
  /** All its lines when everything was over. */
  readonly lines: readonly string[];
  /** What was read at other times, or another way, from an index on. */
  readonly reads: readonly { readonly what: string; readonly from: number; readonly lines: readonly string[] }[];
}

/** One line of the record of effects (`fixtures/chaos/lib/record.ts`). */
export interface Effect {
  readonly member: MemberName;
  readonly kind: string;
  readonly node: string;
  readonly key: string;
  readonly session?: string;
  readonly call?: string;
  readonly read?: readonly string[];
  readonly at: number;
  readonly pid: number;
}

export interface Death {
  readonly member: MemberName;
  readonly pid: number;
  readonly at: number;
  /** `fault 7: commit:after`, `doom 5:^worker/model `, `signal: accepted`; or what it wrote, if nobody killed it. */
  readonly cause: string;
  /** When its process had answered for the first time; absent when it never did. */
  readonly upAt?: number;
  /** When the next process answered, or died; absent when that was not seen. */
  backAt?: number;
}
