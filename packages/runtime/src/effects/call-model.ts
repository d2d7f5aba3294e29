import type { Effect } from "../engine/decide.ts";
import type { EffectInput } from "../engine/input.ts";
import type { EffectContext } from "../engine/ports.ts";
import type { JsonSchema } from "../engine/state.ts";
import { resolveModel } from "../models/resolve-model.ts";
import { projectTools, type ProjectedTool } from "../registry/projection.ts";
import { delay } from "./delay.ts";
import { toModelFailure } from "./model-failure.ts";
import type { Member } from "./perform.ts";
import { prepareCall } from "./prepare-call.ts";
import { readResponse, type Reading, type ResponseEnd } from "./read-response.ts";
import { watchSilence } from "./silence.ts";
import { readOutput } from "./structured-output.ts";
import { resolveCall } from "./resolve-call.ts";
import { isKnown, toUsage } from "./usage.ts";

/**
 * How long a provider may say nothing. Models think for minutes without a word, and to stop one that works costs more
 * than to wait for one that does not; Node's own fetch breaks a silent connection after 300 s, without saying why.
 */
const SILENCE_MS = 240_000;

type ModelEffect = Extract<Effect, { kind: "model" }>;
type Tools = ReadonlyMap<string, ProjectedTool>;

/** One provider call: streams its text, and resolves what it calls against the projection of its node. */
export async function callModel(
  member: Member,
  effect: ModelEffect,
  { state, signal, stream }: EffectContext,
): Promise<EffectInput | undefined> {
  const { failures, retryAfterMs = 0 } = effect;
  if (failures > 0 && !(await delay(retryAfterMs, signal))) return undefined;
  const silence = watchSilence(signal, SILENCE_MS);
  let modelId = "unknown";
  let hadBegun = false;
  const fail = (error: unknown, end?: ResponseEnd): EffectInput => {
    silence.stop("abandoned");
    const usage = end && toUsage(end.usage, end.providerMetadata);
    return toModelFailure(error, {
      modelId,
      env: member.env,
      failures,
      hadBegun,
      ...(usage && isKnown(usage) && { usage }),
    });
  };
  try {
    const node = member.registry().node(state.nodeId);
    const tools = projectTools(node, state);
    const resolved = await resolveModel(node.model, member.env);
    modelId = resolved.modelId;
    const ai = await import("ai");
    const { outputSchema } = state.turn!;
    const prepared = prepareCall(ai, node, resolved.model, tools, { ...state, outputSchema });
    const { firstChunkMs = SILENCE_MS, chunkMs = SILENCE_MS } = node.modelOptions?.timeout ?? {};
    silence.expect(firstChunkMs);
    const { stream: parts } = await silence.guard(
      ai.experimental_streamLanguageModelCall({ ...prepared, abortSignal: silence.signal }),
    );
    hadBegun = true;
    const { turnId, sequence, stepIndex } = state.turn!;
    const step = { turnId, sequence, stepIndex };
    const reading = await silence.guard(
      readResponse(parts, {
        text: (messageDelta) => stream({ public: true, type: "message.appended", data: { ...step, messageDelta } }),
        reasoning: (reasoningDelta) =>
          stream({ public: true, type: "reasoning.appended", data: { ...step, reasoningDelta } }),
        part: () => silence.expect(chunkMs),
      }),
    );
    const { end, failure } = reading;
    if (failure !== undefined) return signal.aborted ? undefined : fail(failure.error, end);
    // What was said before a break is not the reply (§19).
    if (end === undefined || isBroken(end)) return fail(CUT, end);
    if (end.finishReason === "content-filter") return fail(FILTERED, end);
    return toResponse(reading, end, tools, outputSchema);
  } catch (error) {
    return signal.aborted ? undefined : fail(error);
  } finally {
    silence.stop();
  }
}

const CUT = { message: "The provider's stream ended before the response was complete." };
const FILTERED = { message: "The provider's content filter stopped the reply.", code: "content_filter" };

function toResponse(
  reading: Reading,
  end: ResponseEnd,
  tools: Tools,
  outputSchema: JsonSchema | undefined,
): EffectInput {
  const { text, reasoning, content } = reading;
  return {
    kind: "model.responded",
    text,
    reasoning,
    finishReason: end.finishReason,
    calls: reading.calls.map((call) => resolveCall(call, tools)),
    ...(content && { content }),
    usage: toUsage(end.usage, end.providerMetadata),
    ...(outputSchema && reading.calls.length === 0 && { output: readOutput(text, outputSchema) }),
  };
}

/** Providers whose stream was cut say `other` when they close it: a reason that the model gave has a name. */
function isBroken({ finishReason, rawFinishReason }: ResponseEnd): boolean {
  if (finishReason === "other") return rawFinishReason === undefined;
  return finishReason === "error" || finishReason === "interrupted";
}
