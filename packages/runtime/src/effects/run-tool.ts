import type { Effect } from "../engine/decide.ts";
import type { EffectInput } from "../engine/input.ts";
import type { EffectContext } from "../engine/ports.ts";
import { failedTool, invalidInput, steeredTool } from "../engine/text.ts";
import { AgentError, publicMessageOf } from "../errors.ts";
import type { Principal } from "../protocol/principal.ts";
import { describeFailure } from "./authored-stack.ts";
import type { Member } from "./perform.ts";

/** A result is stored, streamed to every reader and read by the model at every step. */
const MAX_OUTPUT_LENGTH = 1024 * 1024;

type ToolEffect = Extract<Effect, { kind: "tool" }>;

/** Runs one call of an authored tool. What it throws is the call's result, for the model to read. */
export async function runTool(
  member: Member,
  { call, turnId }: ToolEffect,
  { state, signal, steered }: EffectContext,
): Promise<EffectInput | undefined> {
  const { callId, toolName } = call;
  const settle = (status: "completed" | "failed", output: unknown): EffectInput => ({
    kind: "tool.settled",
    callId,
    status,
    output,
  });
  try {
    const registered = member.registry().node(state.nodeId).tools.get(toolName);
    if (registered === undefined) throw new AgentError("UNKNOWN_TOOL", `This build has no tool "${toolName}".`);
    const { definition } = registered;
    const input = await definition.inputSchema.safeParseAsync(call.input);
    if (!input.success) {
      const problems = input.error.issues.map((issue) => `${issue.path.join(".") || "input"}: ${issue.message}`);
      return settle("failed", invalidInput(toolName, problems.join("; ")));
    }
    if (signal.aborted) return undefined;
    const output = await definition.execute(input.data, {
      session: {
        id: state.sessionId,
        auth: { current: frozenCopy(state.turn!.principal), initiator: frozenCopy(state.initiator) },
      },
      callId,
      toolName,
      abortSignal: AbortSignal.any([signal, steered]),
      getSandbox: () => member.sandboxes.of(state),
      idempotencyKey: `${state.sessionId}:${turnId}:${callId}`,
    });
    return settle("completed", toJson(output, toolName));
  } catch (error) {
    if (signal.aborted) return undefined;
    if (steered.aborted && isAbort(error)) return settle("failed", steeredTool(toolName));
    logFailure(member, toolName, error);
    return settle("failed", failedTool(publicMessageOf(error)));
  }
}

/** Causes that are looked at: an error may be its own. */
const MAX_CAUSES = 8;

/** True for what an aborted signal makes an operation throw, also inside of what a library made of that. */
function isAbort(error: unknown, depth = 0): boolean {
  if (!(error instanceof Error) || depth > MAX_CAUSES) return false;
  return error.name === "AbortError" || isAbort(error.cause, depth + 1);
}

/** One line for the author: the model reads the message, but nobody else would see where it came from. */
function logFailure(member: Member, toolName: string, error: unknown): void {
  const name = member.registry().manifest.member;
  member.log(`${name}/${toolName} failed: ${describeFailure(error, name)}`);
}

/** The session's own object stays out of reach: a tool that changed it would change who the turn runs as. */
function frozenCopy(principal: Principal): Principal {
  return freeze(structuredClone(principal));
}

function freeze<T>(value: T): T {
  if (typeof value !== "object" || value === null) return value;
  Object.values(value).forEach(freeze);
  return Object.freeze(value);
}

function toJson(output: unknown, toolName: string): unknown {
  if (output === undefined) return null;
  const text = JSON.stringify(output);
  if (text === undefined) throw new TypeError(`${toolName} returned a ${typeof output}, which is not JSON.`);
  if (text.length > MAX_OUTPUT_LENGTH) {
    throw new RangeError(
      `${toolName} returned ${text.length} characters of JSON; at most ${MAX_OUTPUT_LENGTH} are kept. Return less, or where to find it.`,
    );
  }
  return JSON.parse(text);
}
