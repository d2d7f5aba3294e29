import type { Effect } from "../engine/decide.ts";
import { withoutContext } from "../engine/history.ts";
import type { EffectInput } from "../engine/input.ts";
import type { EffectContext } from "../engine/ports.ts";
import { COMPACTION_PROMPT } from "../engine/text.ts";
import { publicMessageOf } from "../errors.ts";
import { resolveModel } from "../models/resolve-model.ts";
import { projectTools } from "../registry/projection.ts";
import type { Member } from "./perform.ts";
import { prepareCall } from "./prepare-call.ts";
import { toUsage } from "./usage.ts";

type CompactEffect = Extract<Effect, { kind: "compact" }>;

/** The AI SDK waits between the calls of the provider. */
const MAX_RETRIES = 2;

/**
 * Lets the agent's own model write what takes the place of its history. The prompt begins as that of a step does, so
 * that what the provider has cached of it serves here, too; its tools are named because some providers take no history
 * of calls without them. What was to be known for one turn only does not get into the summary.
 */
export async function compactHistory(
  member: Member,
  { kept }: CompactEffect,
  { state, signal }: EffectContext,
): Promise<EffectInput | undefined> {
  const failed = (message: string): EffectInput => ({ kind: "compaction.failed", message });
  try {
    const node = member.registry().node(state.nodeId);
    const { model } = await resolveModel(node.model, member.env);
    const ai = await import("ai");
    const tools = projectTools(node, state);
    const said = state.history.slice(0, state.history.length - kept).map(withoutContext);
    const history = [...said, { role: "note" as const, text: COMPACTION_PROMPT }];
    const { text, finishReason, usage, providerMetadata } = await ai.generateText({
      ...prepareCall(ai, node, model, tools, { sessionId: state.sessionId, history }),
      ...(tools.size === 0 ? {} : { toolChoice: "none" as const }),
      abortSignal: signal,
      maxRetries: MAX_RETRIES,
    });
    // Half of a summary would lose the other half of the history.
    if (finishReason !== "stop" && finishReason !== "other") return failed(`The summary ended with "${finishReason}".`);
    if (text.trim() === "") return failed("The model's summary was empty.");
    return { kind: "compaction.finished", summary: text, usage: toUsage(usage, providerMetadata) };
  } catch (error) {
    return signal.aborted ? undefined : failed(publicMessageOf(error));
  }
}
