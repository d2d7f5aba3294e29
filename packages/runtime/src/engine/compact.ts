import type { EventData } from "../protocol/events.ts";
import type { Draft } from "./draft.ts";
import { unreadItems, withoutLastReply } from "./history.ts";
import type { EffectInput } from "./input.ts";
import { CHARACTERS_PER_TOKEN, lengthOf, lengthOfAll, promptTokens } from "./prompt-length.ts";
import type { HistoryItem, SessionState } from "./state.ts";

/** Share of the history that stays as it is behind its summary. */
const KEPT_SHARE = 0.2;
/** Share of the limit that must have been said since the last try: for less, another would gain nothing. */
const MIN_SHARE = 0.05;

/** True when the step that is about to begin should read a shorter history, and can. */
export function isTooLong({ state, around: { compactAt }, turn }: Draft): boolean {
  if (compactAt === undefined || turn.phase === "compact") return false;
  const { compactedAt = 0 } = turn;
  const least = MIN_SHARE * compactAt;
  if (promptTokens(state) < Math.max(compactAt, compactedAt + least)) return false;
  return lengthOfAll(toSummarize(state, keptItems(state, compactAt))) >= least * CHARACTERS_PER_TOKEN;
}

/** Asks for a summary of all but the last messages, so that the step that follows has room. */
export function compactForStep(draft: Draft): void {
  request(draft, keptItems(draft.state, draft.around.compactAt!));
}

/** Asks for a summary between two turns; false when there is nothing that it could be of. */
export function compactNow(draft: Draft): boolean {
  const kept = retriedItems(draft.state);
  if (toSummarize(draft.state, kept).length === 0) return false;
  request(draft, kept);
  return true;
}

/** Puts the summary into the place of what it is one of. */
export function finishCompaction(
  draft: Draft,
  { summary, usage }: Omit<Extract<EffectInput, { kind: "compaction.finished" }>, "kind">,
): void {
  const data = toData(draft, draft.state.compaction!.usageInputTokens);
  draft.emit({ public: true, type: "compaction.completed", data, inner: { summary, usage } });
}

/** Leaves all that was said behind; tasks stay, and can be continued (§16). */
export function clearHistory(draft: Draft): void {
  draft.emit({ public: true, type: "context.cleared", data: toData(draft, promptTokens(draft.state)) });
}

function request(draft: Draft, kept: number): void {
  const data = toData(draft, promptTokens(draft.state));
  draft.emit({ public: true, type: "compaction.requested", data, inner: { kept } });
}

function toData({ around, state: { turn } }: Draft, usageInputTokens: number): EventData<"compaction.requested"> {
  const at = turn && { turnId: turn.turnId, sequence: turn.sequence, stepIndex: turn.stepIndex + 1 };
  return { ...at, modelId: around.modelId, usageInputTokens };
}

/** What a summary would be of, without the summary before it. */
function toSummarize({ history }: SessionState, kept: number): readonly HistoryItem[] {
  return history.slice(0, history.length - kept).filter((item) => item.role !== "note" || item.summary !== true);
}

/**
 * How many items at the end of the history stay as they are: what fits into their share, and all that the model has
 * not answered to. A call and its results stay together.
 */
function keptItems(state: SessionState, compactAt: number): number {
  const { history } = state;
  // By the provider's count a share of the limit, however many characters its tokens have.
  let room = KEPT_SHARE * lengthOfAll(history) * Math.min(1, compactAt / promptTokens(state));
  let kept = 0;
  for (let at = history.length - 1; at >= 0; at--) {
    const item = history[at]!;
    room -= lengthOf(item);
    if (room < 0) break;
    if (item.role !== "tool") kept = history.length - at;
  }
  return Math.max(kept, unreadItems(history));
}

/** What a failed turn was told and never answered stays, so that it can be done again. */
function retriedItems({ history, failed }: SessionState): number {
  if (failed === undefined) return 0;
  const told = withoutLastReply(history);
  return unreadItems(told) + history.length - told.length;
}
