import type { EventData } from "../protocol/events.ts";
import type { Draft } from "./draft.ts";
import type { EffectInput } from "./input.ts";
import { CHARACTERS_PER_TOKEN, lengthOf, promptTokens } from "./prompt-length.ts";
import type { Control, SessionState } from "./state.ts";

/** Share of the limit that the last messages may fill and so stay as they are. */
const KEPT_SHARE = 0.2;

/** True when the step that is about to begin should read a shorter history. */
export function isTooLong({ state, around, turn }: Draft): boolean {
  const { compactAt } = around;
  return (
    compactAt !== undefined &&
    !turn.compacted &&
    promptTokens(state) >= compactAt &&
    keptItems(state, compactAt) < state.history.length
  );
}

/** Asks for a summary of all but the last messages, so that the step that follows has room. */
export function compactForStep(draft: Draft): void {
  const { turnId, sequence, stepIndex } = draft.turn;
  request(draft, keptItems(draft.state, draft.around.compactAt!), { turnId, sequence, stepIndex: stepIndex + 1 });
}

/** Remembers a control for the end of the turn (§16). */
export function queueControl(draft: Draft, control: Control): void {
  draft.emit({ public: false, type: "control.queued", data: { control } });
}

/** Does what was asked for between two turns; stops at a summary, which takes its time. */
export function runControls(draft: Draft, waiting: () => void): void {
  while (draft.state.compaction === undefined && draft.state.controls.length > 0) {
    const [control] = draft.state.controls;
    draft.emit({ public: false, type: "control.taken", data: {} });
    if (control === "compact" && draft.state.history.length > 0) return request(draft, 0, {});
    if (control === "clear") {
      draft.emit({ public: true, type: "context.cleared", data: toData(draft, promptTokens(draft.state), {}) });
    }
    waiting();
  }
}

/** Puts the summary into the place of what it is one of. */
export function finishCompaction(
  draft: Draft,
  { summary, usage }: Omit<Extract<EffectInput, { kind: "compaction.finished" }>, "kind">,
): void {
  const { usageInputTokens } = draft.state.compaction!;
  draft.emit({
    public: true,
    type: "compaction.completed",
    data: toData(draft, usageInputTokens, coordinates(draft)),
    inner: { summary, usage },
  });
}

function request(draft: Draft, kept: number, at: Coordinates): void {
  const data = toData(draft, promptTokens(draft.state), at);
  draft.emit({ public: true, type: "compaction.requested", data, inner: { kept } });
}

type Coordinates = Pick<EventData<"compaction.requested">, "turnId" | "sequence" | "stepIndex">;

function coordinates({ state }: Draft): Coordinates {
  if (state.turn === undefined) return {};
  const { turnId, sequence, stepIndex } = state.turn;
  return { turnId, sequence, stepIndex: stepIndex + 1 };
}

function toData({ around }: Draft, usageInputTokens: number, at: Coordinates): EventData<"compaction.requested"> {
  return { ...at, modelId: around.modelId, usageInputTokens };
}

/** How many items at the end of the history fit into their share. A call and its results stay together. */
function keptItems({ history }: SessionState, compactAt: number): number {
  let room = compactAt * CHARACTERS_PER_TOKEN * KEPT_SHARE;
  let kept = 0;
  for (let at = history.length - 1; at >= 0; at--) {
    const item = history[at]!;
    room -= lengthOf(item);
    if (room < 0) break;
    if (item.role !== "tool") kept = history.length - at;
  }
  return kept;
}
