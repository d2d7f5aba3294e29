import type { Principal } from "../../protocol/principal.ts";
import type { Effect } from "../../engine/decide.ts";
import type { EffectInput, OpenInput, ResolvedCall } from "../../engine/input.ts";
import type { EffectContext, Perform } from "../../engine/ports.ts";
import type { Delivery, SessionState } from "../../engine/state.ts";

export const ALICE = { authenticator: "test", principalId: "alice", principalType: "user", attributes: {} } as const;
export const BOB = { ...ALICE, principalId: "bob" } as const;
const USAGE = { inputTokens: 1, outputTokens: 1, cacheReadTokens: 0, cacheWriteTokens: 0 };

/** Answers every model call with a text. */
export function reply(text: (effect: Effect, context: EffectContext) => string): Perform {
  return async (effect, context) => responded(text(effect, context));
}

/** The root calls one child in its first step and answers once it has the result. */
export function delegating({ hangInChild = false } = {}): Perform {
  return async (_effect, { state }) => {
    if (state.origin.kind === "local") return hangInChild ? new Promise(() => {}) : responded("child reply");
    const { stepIndex } = state.turn!;
    if (stepIndex === 0) return callingHelper();
    return responded(stepIndex === 1 ? "" : "parent reply");
  };
}

/** Work that comes with a crash in mind: a tool, then a child, then a reply. What it ran is noted in `ran`. */
export function working(ran: string[] = []): Perform {
  return async (effect, { state }) => {
    ran.push(`${state.origin.kind} ${effect.id}`);
    if (effect.kind === "tool") {
      return { kind: "tool.settled", callId: effect.call.callId, status: "completed", output: 1 };
    }
    if (state.origin.kind === "local") return responded("child reply");
    const { stepIndex } = state.turn!;
    if (stepIndex === 0) return calling(["t1"]);
    if (stepIndex === 1) return callingHelper();
    return responded(state.turn!.results.length === 0 && isHelped(state) ? "parent reply" : "");
  };
}

/**
 * The root calls a remote agent in its first step and waits for it. `requests` notes what the remote is asked; the
 * requests that end in its session never arrive while `isAway` says so.
 */
export function callingRemote(requests: string[], isAway: () => boolean = () => false): Perform {
  return async (effect, { state, signal }) => {
    switch (effect.kind) {
      case "send": {
        requests.push("send");
        const { taskId, call } = effect;
        const accepted = { remoteSessionId: "ses_far", deliveryId: "del_far", url: "http://far.invalid" };
        return { kind: "remote.accepted", taskId, callId: call.callId, ...accepted };
      }
      case "outgoing":
        requests.push(effect.outgoing.kind);
        if (isAway()) return untilAborted(signal);
        return { kind: "outgoing.done", id: effect.outgoing.id };
      case "watch":
        return untilAborted(signal);
      default: {
        const target = { kind: "remote", remote: { name: "far", source: "far.ts" }, description: "Far." } as const;
        const call = { callId: "c1", name: "far", input: { message: "do it" }, target };
        return state.turn!.stepIndex === 0 ? withCalls([call]) : responded("");
      }
    }
  };
}

/** The root calls a child that never answers, waits for it for a time, and then stops it. */
export function waiting(timeoutMs: number): Perform {
  return async (effect, { state, signal }) => {
    if (effect.kind !== "model" || state.origin.kind === "local") return untilAborted(signal);
    const target = { kind: "local", nodeId: "root/helper", description: "Helps." } as const;
    const call = { callId: "c1", name: "helper", input: { message: "do it" }, target };
    const wait = { callId: "w1", name: "eve__task_wait", input: {}, target: { kind: "wait", timeoutMs } } as const;
    const [taskId = ""] = Object.keys(state.tasks);
    const stop = { callId: "s1", name: "eve__task_cancel", input: {}, target: { kind: "stop", taskId } } as const;
    const steps = [withCalls([call, wait]), withCalls([stop])];
    return steps[state.turn!.stepIndex] ?? responded("done");
  };
}

/** Never ends by itself. */
export const hanging: Perform = (_effect, { signal }) => untilAborted(signal);

function untilAborted(signal: AbortSignal): Promise<undefined> {
  return new Promise((resolve) => signal.addEventListener("abort", () => resolve(undefined), { once: true }));
}

function isHelped({ history }: SessionState): boolean {
  return history.some((item) => item.role === "note" && item.text.includes("child reply"));
}

export function responded(text: string): EffectInput {
  return { kind: "model.responded", text, reasoning: "", finishReason: "stop", calls: [], usage: USAGE };
}

export function calling(callIds: readonly string[], onInterrupt: "retry" | "fail" = "retry"): EffectInput {
  return withCalls(
    callIds.map((callId) => ({ callId, name: "work", input: {}, target: { kind: "tool", onInterrupt } })),
  );
}

export function callingHelper(): EffectInput {
  const target = { kind: "local", nodeId: "root/helper", description: "Helps." } as const;
  return withCalls([{ callId: "c1", name: "helper", input: { message: "do it" }, target }]);
}

function withCalls(calls: readonly ResolvedCall[]): EffectInput {
  return { kind: "model.responded", text: "", reasoning: "", finishReason: "tool-calls", calls, usage: USAGE };
}

export function opening(text: string | undefined, initiator: Principal = ALICE): OpenInput {
  return {
    kind: "open",
    nodeId: "root",
    agentName: "test",
    origin: { kind: "root" },
    initiator,
    ...(text === undefined ? {} : { first: delivery("first", text, "queue") }),
  };
}

export function message(
  deliveryId: string,
  text: string,
  policy: Delivery["policy"] = "steer",
): { kind: "deliver"; delivery: Delivery } {
  return { kind: "deliver", delivery: delivery(deliveryId, text, policy) };
}

function delivery(deliveryId: string, text: string, policy: Delivery["policy"]): Delivery {
  return { deliveryId, parts: [{ type: "text", text }], principal: ALICE, policy };
}
