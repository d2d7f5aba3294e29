import type { Effect } from "../engine/decide.ts";
import type { EffectInput } from "../engine/input.ts";
import type { EffectContext } from "../engine/ports.ts";
import { COMPACTION_PROMPT } from "../engine/text.ts";
import { publicMessageOf } from "../errors.ts";
import { resolveModel } from "../models/resolve-model.ts";
import type { Member } from "./perform.ts";
import { toModelMessages } from "./to-model-messages.ts";
import { toUsage } from "./usage.ts";

type CompactEffect = Extract<Effect, { kind: "compact" }>;

/** Calls of the provider in all; the AI SDK waits between them. */
const MAX_RETRIES = 2;

/**
 * Lets the agent's own model write what takes the place of its history. The prompt begins as that of a step does, so
 * that what the provider has cached of it serves here, too.
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
    const { generateText } = await import("ai");
    const history = state.history.slice(0, state.history.length - kept);
    const { text, usage } = await generateText({
      model,
      ...(node.instructions === undefined ? {} : { system: node.instructions }),
      messages: [...toModelMessages(history), { role: "user", content: COMPACTION_PROMPT }],
      abortSignal: signal,
      maxRetries: MAX_RETRIES,
    });
    if (text.trim() === "") return failed("The model's summary was empty.");
    return { kind: "compaction.finished", summary: text, usage: toUsage(usage) };
  } catch (error) {
    return signal.aborted ? undefined : failed(publicMessageOf(error));
  }
}
