import type { ResolvedCall } from "../engine/input.ts";
import { invalidInput, MAX_WAIT_SECONDS, unknownTool } from "../engine/text.ts";
import { messageOf } from "../errors.ts";
import type { ProjectedTool } from "../registry/projection.ts";
import type { CallPart } from "./read-response.ts";

/** A call is what the projection says of its name; any other name is refused before anything starts (contract §4). */
export function resolveCall(part: CallPart, tools: ReadonlyMap<string, ProjectedTool>): ResolvedCall {
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
  if (target.kind === "task-wait" || target.kind === "task-cancel") return toTaskCall(part, target.kind, refuse);
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

function toTaskCall(
  { toolCallId: callId, toolName: name, input }: CallPart,
  kind: "task-wait" | "task-cancel",
  refuse: (code: string, message: string) => ResolvedCall,
): ResolvedCall {
  const { timeoutSeconds, taskId } = (input ?? {}) as { timeoutSeconds?: unknown; taskId?: unknown };
  if (kind === "task-cancel") {
    if (typeof taskId === "string") return { callId, name, input, target: { kind: "stop", taskId } };
    return refuse("INVALID_INPUT", invalidInput(name, "`taskId` must be a string"));
  }
  if (timeoutSeconds === undefined) return { callId, name, input, target: { kind: "wait" } };
  const valid = typeof timeoutSeconds === "number" && timeoutSeconds > 0 && timeoutSeconds <= MAX_WAIT_SECONDS;
  if (!valid) {
    const problem = `\`timeoutSeconds\` must be a number above 0, and at most ${MAX_WAIT_SECONDS}`;
    return refuse("INVALID_INPUT", invalidInput(name, problem));
  }
  return { callId, name, input, target: { kind: "wait", timeoutMs: Math.ceil(timeoutSeconds * 1_000) } };
}
