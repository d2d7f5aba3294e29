import type { Delta } from "./ports.ts";

/** Adds a delta to those not yet stored, joining it with the last where they continue the same text. */
export function joinDelta(waiting: readonly Delta[], delta: Delta): Delta[] {
  const last = waiting.at(-1);
  if (last?.type === "message.appended" && delta.type === "message.appended") {
    const messageDelta = last.data.messageDelta + delta.data.messageDelta;
    return [...waiting.slice(0, -1), { ...delta, data: { ...delta.data, messageDelta } }];
  }
  if (last?.type === "reasoning.appended" && delta.type === "reasoning.appended") {
    const reasoningDelta = last.data.reasoningDelta + delta.data.reasoningDelta;
    return [...waiting.slice(0, -1), { ...delta, data: { ...delta.data, reasoningDelta } }];
  }
  return [...waiting, delta];
}

/** Characters of text in a delta. */
export function deltaLength(delta: Delta): number {
  return delta.type === "message.appended" ? delta.data.messageDelta.length : delta.data.reasoningDelta.length;
}
