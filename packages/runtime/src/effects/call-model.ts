import type { LanguageModelUsage, ToolSet } from "ai";
import type { Effect } from "../engine/decide.ts";
import type { EffectInput, ResolvedCall } from "../engine/input.ts";
import type { EffectContext } from "../engine/ports.ts";
import type { SessionState } from "../engine/state.ts";
import { invalidInput, unknownTool } from "../engine/text.ts";
import { AgentError, messageOf, publicMessageOf } from "../errors.ts";
import { resolveModel } from "../models/resolve-model.ts";
import { projectTools, type ProjectedTool } from "../registry/projection.ts";
import { delay } from "./delay.ts";
import type { Member } from "./perform.ts";
import { readOutput } from "./structured-output.ts";
import { toModelMessages } from "./to-model-messages.ts";
import { toUsage } from "./usage.ts";

const RETRY_BASE_MS = 250;

type ModelEffect = Extract<Effect, { kind: "model" }>;
type Tools = ReadonlyMap<string, ProjectedTool>;

/** One provider call: streams its text, and resolves what it calls against the projection of its node. */
export async function callModel(
  member: Member,
  effect: ModelEffect,
  { state, signal, stream }: EffectContext,
): Promise<EffectInput | undefined> {
  if (effect.failures > 0 && !(await delay(RETRY_BASE_MS * 2 ** (effect.failures - 1), signal))) return undefined;
  try {
    const node = member.registry().node(state.nodeId);
    const tools = projectTools(node);
    const { model } = await resolveModel(node.model, member.env);
    const { experimental_streamLanguageModelCall, jsonSchema, Output, tool } = await import("ai");
    const outputSchema = state.turn?.outputSchema;
    const toolSet: ToolSet = {};
    for (const { name, description, inputSchema } of tools.values()) {
      toolSet[name] = tool({ description, inputSchema: jsonSchema(inputSchema) });
    }
    const { stream: parts } = await experimental_streamLanguageModelCall({
      model,
      ...(node.instructions === undefined ? {} : { system: node.instructions }),
      messages: toModelMessages(state.history),
      ...(tools.size === 0 ? {} : { tools: toolSet }),
      ...(outputSchema === undefined ? {} : { output: Output.object({ schema: jsonSchema(outputSchema) }) }),
      abortSignal: signal,
    });
    return await readResponse(parts, tools, state, stream);
  } catch (error) {
    return signal.aborted ? undefined : toFailure(error);
  }
}

interface ModelCallEnd {
  readonly type: "model-call-end";
  readonly finishReason: string;
  readonly rawFinishReason?: string | undefined;
  readonly usage: LanguageModelUsage;
}

/** The parts of the AI SDK's stream that are read here. */
type Part =
  | { readonly type: "text-delta" | "reasoning-delta"; readonly text: string }
  | {
      readonly type: "tool-call";
      readonly toolCallId: string;
      readonly toolName: string;
      readonly input: unknown;
      readonly invalid?: boolean | undefined;
      readonly error?: unknown;
    }
  | ModelCallEnd
  | { readonly type: "error"; readonly error: unknown };

async function readResponse(
  parts: AsyncIterable<{ readonly type: string }>,
  tools: Tools,
  state: SessionState,
  stream: EffectContext["stream"],
): Promise<EffectInput> {
  const { turnId, sequence, stepIndex, outputSchema } = state.turn!;
  const step = { turnId, sequence, stepIndex };
  let text = "";
  let reasoning = "";
  const calls: ResolvedCall[] = [];
  let end: ModelCallEnd | undefined;
  for await (const raw of parts) {
    const part = raw as Part;
    switch (part.type) {
      case "text-delta":
        text += part.text;
        if (part.text !== "") {
          stream({ public: true, type: "message.appended", data: { ...step, messageDelta: part.text } });
        }
        break;
      case "reasoning-delta":
        reasoning += part.text;
        if (part.text !== "") {
          stream({ public: true, type: "reasoning.appended", data: { ...step, reasoningDelta: part.text } });
        }
        break;
      case "tool-call":
        calls.push(resolveCall(part, tools));
        break;
      case "model-call-end":
        end = part;
        break;
      case "error":
        throw part.error;
    }
  }
  // What was said before a break is not the reply (§19).
  if (end === undefined || isBroken(end)) {
    return toFailure(new Error("The provider's stream ended before the response was complete."));
  }
  if (end.finishReason === "content-filter") {
    return {
      kind: "model.failed",
      code: "MODEL_FAILED",
      message: "The provider's content filter stopped the reply.",
      retryable: false,
    };
  }
  return {
    kind: "model.responded",
    text,
    reasoning,
    finishReason: end.finishReason,
    calls,
    usage: toUsage(end.usage),
    ...(outputSchema === undefined || calls.length > 0 ? {} : { output: readOutput(text, outputSchema) }),
  };
}

/** Providers whose stream was cut say `other` when they close it: a reason that the model gave has a name. */
function isBroken({ finishReason, rawFinishReason }: ModelCallEnd): boolean {
  if (finishReason === "other") return rawFinishReason === undefined;
  return finishReason === "error" || finishReason === "interrupted";
}

/** A call is what the projection says of its name; any other name is refused before anything starts (contract §4). */
function resolveCall(part: Extract<Part, { type: "tool-call" }>, tools: Tools): ResolvedCall {
  const { toolCallId: callId, toolName: name, input } = part;
  const refuse = (code: string, message: string): ResolvedCall => ({
    callId,
    name,
    input,
    target: { kind: "refused", code, message },
  });
  const projected = tools.get(name);
  if (projected === undefined) return refuse("UNKNOWN_TOOL", unknownTool(name));
  if (part.invalid) return refuse("INVALID_INPUT", invalidInput(name, messageOf(part.error)));
  const { target } = projected;
  if (target.kind === "tool") {
    return { callId, name, input, target: { kind: "tool", onInterrupt: target.tool.manifest.onInterrupt } };
  }
  const problem = agentInputProblem(input);
  if (problem !== undefined) return refuse("INVALID_INPUT", invalidInput(name, problem));
  const { subagent } = target;
  const { description, source } = subagent.manifest;
  return {
    callId,
    name,
    input,
    target:
      subagent.kind === "local"
        ? { kind: "local", nodeId: subagent.nodeId, description }
        : { kind: "remote", remote: { name, source }, description },
  };
}

function agentInputProblem(input: unknown): string | undefined {
  const { message, taskId } = (input ?? {}) as { message?: unknown; taskId?: unknown };
  if (typeof message !== "string" || message.trim() === "") return "`message` must be a non-empty string";
  if (taskId !== undefined && typeof taskId !== "string") return "`taskId` must be a string";
  return undefined;
}

/** Providers mark what may pass; anything without a mark did not come from one, and would fail again. */
function toFailure(error: unknown): EffectInput {
  const message = publicMessageOf(error);
  if (AgentError.is(error)) return { kind: "model.failed", code: error.code, message, retryable: false };
  const marked = (error as { isRetryable?: unknown } | null)?.isRetryable;
  const broken =
    error instanceof Error && (error.name === "TypeError" || /stream ended|terminated|ECONN/.test(message));
  return {
    kind: "model.failed",
    code: "MODEL_FAILED",
    message,
    retryable: typeof marked === "boolean" ? marked : broken,
  };
}
