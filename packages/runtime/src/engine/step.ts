import { compactForStep, isTooLong } from "./compact.ts";
import { inTurn, type Draft } from "./draft.ts";
import { textOf } from "./entry.ts";
import { noteTasks } from "./note.ts";
import type { Delivery } from "./state.ts";
import { isSteered } from "./steering.ts";
import { taskResultMessage } from "./text.ts";

/** Folds what arrived since the last step and asks the model again, with a shorter history if that got too long. */
export function beginStep(draft: Draft): void {
  receiveSteering(draft);
  showResults(draft);
  if (isTooLong(draft)) return compactForStep(draft);
  noteTasks(draft);
  announceStep(draft, draft.turn.stepIndex + 1, 1);
}

/**
 * Asks the model again for the step under way: another attempt, which what it said before is no part of, and which
 * answers the messages that have come since, too (§16).
 */
export function restartStep(draft: Draft): void {
  receiveSteering(draft);
  announceStep(draft, draft.turn.stepIndex, draft.turn.attempt + 1);
}

/** Goes on to the next step once no tool call of this one is open, and nothing is waited for. */
export function resumeAfterCalls(draft: Draft): void {
  const { phase, pending, waits } = draft.turn;
  if (phase === "calls" && Object.keys(pending).length === 0 && waits.length === 0) beginStep(draft);
}

/** Parks the turn until a task settles (§6.6). */
export function holdTurn(draft: Draft): void {
  draft.emit({
    public: true,
    type: "turn.waiting",
    data: { ...inTurn(draft), on: "tasks", usage: draft.state.usage },
  });
}

/** The turn reads a message. */
export function receive(draft: Draft, delivery: Delivery): void {
  const { deliveryId, parts, replyTo, context, outputSchema } = delivery;
  draft.emit({
    public: true,
    type: "message.received",
    data: { ...inTurn(draft), message: textOf(parts), parts: [...parts] },
    inner: {
      deliveryIds: [deliveryId],
      ...(replyTo === undefined ? {} : { replyTo }),
      ...(context === undefined ? {} : { context }),
      ...(outputSchema === undefined ? {} : { outputSchema }),
    },
  });
}

/** Results that arrived are the model's to read, in the next turn if not in this one (§6.7). */
export function showResults(draft: Draft): void {
  const { results } = draft.turn;
  if (results.length === 0) return;
  const text = taskResultMessage(results);
  draft.emit({ public: false, type: "results.shown", data: { text, count: results.length } });
}

function receiveSteering(draft: Draft): void {
  while (isSteered(draft.state)) receive(draft, draft.state.queue[0]!);
}

function announceStep(draft: Draft, stepIndex: number, attempt: number): void {
  const { modelId } = draft.around;
  draft.emit({ public: true, type: "step.started", data: { ...inTurn(draft), stepIndex, modelId, attempt } });
}
