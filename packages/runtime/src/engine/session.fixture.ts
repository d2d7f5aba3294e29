import type { Principal } from "../protocol/principal.ts";
import { advance } from "./advance.ts";
import { decide, type Effect } from "./decide.ts";
import { textOf, type Entry } from "./entry.ts";
import type { Advance, EffectInput, Input, OpenInput, Post, ResolvedCall, Surroundings, TaskLimits } from "./input.ts";
import { reduce } from "./reduce.ts";
import type { Delivery, SessionOrigin, SessionState } from "./state.ts";

export const ADA: Principal = { authenticator: "test", principalId: "ada", principalType: "user", attributes: {} };
export const BOB: Principal = { authenticator: "test", principalId: "bob", principalType: "user", attributes: {} };
export const USAGE = { inputTokens: 3, outputTokens: 2, cacheReadTokens: 1, cacheWriteTokens: 0 };

/** One session driven by hand: what it decided, and what it sent to others. */
export interface TestSession {
  readonly id: string;
  readonly state: SessionState;
  readonly entries: readonly Entry[];
  readonly posts: readonly Post[];
  /** Feeds one input; returns only what that input made. */
  apply(input: Input, effectId?: string): Advance;
  /** Lets time go by, and tells the session. */
  pass(ms: number): Advance;
  /** Types of the public events so far, or of those of one advance. */
  types(from?: Advance): string[];
  events<T extends Entry["type"]>(type: T, from?: Advance): Extract<Entry, { type: T }>["data"][];
  effects(): readonly Effect[];
  /** Texts that only the model reads: notes and task results. */
  notes(): string[];
}

export interface SessionOptions {
  readonly id?: string;
  readonly origin?: SessionOrigin;
  /** What `random` and `newSessionId` count with: sessions of one test must not make the same ids. */
  readonly seed?: string;
  readonly first?: Delivery;
  readonly sessionTimeoutMs?: number;
  readonly compactAt?: number;
  readonly taskLimits?: TaskLimits;
  readonly fork?: OpenInput["fork"];
}

/** Opens a session, with a first message unless `first` says otherwise. */
export function openSession(options: SessionOptions = {}): TestSession {
  const { id = "ses_1", origin = { kind: "root" }, seed = "" } = options;
  const clock = { now: 0 };
  let made = 0;
  let children = 0;
  const around: Surroundings = {
    sessionId: id,
    modelId: "test/model",
    eveVersion: "0.0.0",
    get now() {
      return clock.now;
    },
    ...(options.sessionTimeoutMs === undefined ? {} : { sessionTimeoutMs: options.sessionTimeoutMs }),
    ...(options.compactAt === undefined ? {} : { compactAt: options.compactAt }),
    ...(options.taskLimits === undefined ? {} : { taskLimits: options.taskLimits }),
    base: "/eve/test/v1",
    newSessionId: () => `${id}.${seed}${++children}`,
    random: (length) => `${seed}${String(++made).padStart(length - seed.length, "0")}`,
  };
  let state: SessionState | undefined;
  const entries: Entry[] = [];
  const posts: Post[] = [];
  const pick = (from: Advance | undefined): readonly Entry[] => from?.entries ?? entries;
  const session: TestSession = {
    id,
    get state() {
      return state!;
    },
    entries,
    posts,
    apply: (input, effectId) => {
      const made = advance(state, input, around, effectId);
      state = made.state;
      entries.push(...made.entries);
      posts.push(...made.posts);
      return made;
    },
    types: (from) => pick(from).flatMap((entry) => (entry.public ? [entry.type] : [])),
    events: (type, from) => pick(from).flatMap((entry) => (entry.type === type ? [entry.data as never] : [])),
    effects: () => (state === undefined ? [] : decide(state)),
    pass: (ms) => {
      clock.now += ms;
      return session.apply({ kind: "time.passed" });
    },
    notes: () => (state?.history ?? []).flatMap((item) => (item.role === "note" ? [item.text] : [])),
  };
  session.apply({
    kind: "open",
    nodeId: "root",
    agentName: "test",
    origin,
    initiator: ADA,
    ...(options.fork === undefined ? {} : { fork: options.fork }),
    ...(options.first === undefined ? {} : { first: options.first }),
  });
  return session;
}

/** A session whose first turn asks the model. */
export function startTurn(options: SessionOptions = {}): TestSession {
  return openSession({ first: message("hello"), ...options });
}

/** A child session of `ses_parent`, asked by `callId`. */
export function startChild(callId = "c1", options: SessionOptions = {}): TestSession {
  return openSession({
    id: "ses_child",
    origin: { kind: "local", parentSessionId: "ses_parent", taskId: "worker-1" },
    first: message("work", { deliveryId: `d_${callId}`, replyTo: { kind: "local", callId } }),
    ...options,
  });
}

let deliveries = 0;

export function message(text: string, options: Partial<Delivery> = {}): Delivery {
  return {
    deliveryId: `del_${++deliveries}`,
    parts: [{ type: "text", text }],
    principal: ADA,
    policy: "steer",
    ...options,
  };
}

export function deliver(text: string, options: Partial<Delivery> = {}): Input {
  return { kind: "deliver", delivery: message(text, options) };
}

type Responded = Extract<EffectInput, { kind: "model.responded" }>;

export function says(text: string, calls: readonly ResolvedCall[] = []): Responded {
  return {
    kind: "model.responded",
    text,
    reasoning: "",
    finishReason: calls.length > 0 ? "tool-calls" : "stop",
    calls,
    usage: USAGE,
  };
}

export function calls(...resolved: readonly ResolvedCall[]): Responded {
  return says("", resolved);
}

/** A reply to a turn with an output schema: what it is by that schema, or what is wrong with it. */
export function answers(text: string, output: { value: unknown } | { problem: string }): Responded {
  const read = "value" in output ? ({ valid: true, ...output } as const) : ({ valid: false, ...output } as const);
  return { ...says(text), output: read };
}

export const BEGAN: EffectInput = { kind: "model.began" };

export function summary(text: string): EffectInput {
  return { kind: "compaction.finished", summary: text, usage: USAGE };
}

export function toolCall(callId: string, onInterrupt: "retry" | "fail" = "retry"): ResolvedCall {
  return { callId, name: "add", input: { a: 1 }, target: { kind: "tool", onInterrupt } };
}

export function agentCall(callId: string, taskId?: string, name = "worker"): ResolvedCall {
  return {
    callId,
    name,
    input: { message: `do ${callId}`, ...(taskId === undefined ? {} : { taskId }) },
    target: { kind: "local", nodeId: `root/${name}`, description: "Works." },
  };
}

export function remoteCall(callId: string, taskId?: string): ResolvedCall {
  return {
    callId,
    name: "peer",
    input: { message: `do ${callId}`, ...(taskId === undefined ? {} : { taskId }) },
    target: { kind: "remote", remote: { name: "peer", source: "subagents/peer.ts" }, description: "Elsewhere." },
  };
}

export function waitCall(callId: string, timeoutMs?: number): ResolvedCall {
  const target = timeoutMs === undefined ? ({ kind: "wait" } as const) : ({ kind: "wait", timeoutMs } as const);
  return { callId, name: "eve__task_wait", input: {}, target };
}

export function stopCall(callId: string, taskId: string): ResolvedCall {
  return { callId, name: "eve__task_cancel", input: { taskId }, target: { kind: "stop", taskId } };
}

export function toolSettled(callId: string, output: unknown = "3"): EffectInput {
  return { kind: "tool.settled", callId, status: "completed", output };
}

export function replied(callIds: readonly string[], output: string): Input {
  return { kind: "child.settled", callIds, status: "completed", output };
}

export function remoteAccepted(taskId: string, callId: string, remoteSessionId = "ses_far"): EffectInput {
  return { kind: "remote.accepted", taskId, callId, remoteSessionId, deliveryId: `del_${callId}`, url: "http://far" };
}

export function modelFails(retryable: boolean): EffectInput {
  return { kind: "model.failed", code: "MODEL_FAILED", message: "overloaded", retryable };
}

/** Task id of the last task started. */
export function lastTask({ state }: TestSession): string {
  return Object.keys(state.tasks).at(-1)!;
}

/** What the model has read and said, one line each. */
export function spoken({ state }: TestSession): string[] {
  return state.history.map((item) => {
    switch (item.role) {
      case "user":
        return `user: ${textOf(item.parts)}`;
      case "note":
        return `note: ${item.text}`;
      case "assistant":
        return `model: ${[item.text, ...item.calls.map(({ callId }) => `<${callId}>`)].join("")}`;
      case "tool":
        return `tool: ${item.callId}`;
    }
  });
}

/** The state that a restart would fold: from the log as JSON. */
export function refold(entries: readonly Entry[]): SessionState | undefined {
  return (JSON.parse(JSON.stringify(entries)) as Entry[]).reduce<SessionState | undefined>(reduce, undefined);
}
