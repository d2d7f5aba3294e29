import type { Effect } from "../engine/decide.ts";
import type { EffectInput, OpenInput, ResolvedCall } from "../engine/input.ts";
import type { EffectContext, Perform } from "../engine/ports.ts";
import type { Delivery } from "../engine/state.ts";

const ALICE = { authenticator: "test", principalId: "alice", principalType: "user", attributes: {} } as const;
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
    if (stepIndex === 0) {
      const target = { kind: "local", nodeId: "root/helper", description: "Helps." } as const;
      return withCalls([{ callId: "c1", name: "helper", input: { message: "do it" }, target }]);
    }
    return responded(stepIndex === 1 ? "" : "parent reply");
  };
}

export function responded(text: string): EffectInput {
  return { kind: "model.responded", text, reasoning: "", finishReason: "stop", calls: [], usage: USAGE };
}

export function calling(callIds: readonly string[]): EffectInput {
  return withCalls(
    callIds.map((callId) => ({ callId, name: "work", input: {}, target: { kind: "tool", onInterrupt: "retry" } })),
  );
}

function withCalls(calls: readonly ResolvedCall[]): EffectInput {
  return { kind: "model.responded", text: "", reasoning: "", finishReason: "tool-calls", calls, usage: USAGE };
}

export function opening(text: string | undefined): OpenInput {
  return {
    kind: "open",
    nodeId: "root",
    agentName: "test",
    origin: { kind: "root" },
    initiator: ALICE,
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
