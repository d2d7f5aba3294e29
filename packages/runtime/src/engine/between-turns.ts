import { clearHistory, compactNow } from "./compact.ts";
import type { Draft } from "./draft.ts";
import { expireSession } from "./end-session.ts";
import { announceSession, retryTurn, startNextTurn } from "./start-turn.ts";
import type { Control } from "./state.ts";
import { beginStep } from "./step.ts";

/** Does what a person asks for between two turns: at once, or behind the turn or the summary under way (§16). */
export function control(draft: Draft, asked: Control): void {
  const { ended, failed } = draft.state;
  // Whatever turn is to be done again: when it may be, it is the last one.
  if (ended || (asked.kind === "retry" && failed?.turnId !== asked.turnId)) return;
  announceSession(draft);
  draft.emit({ public: false, type: "control.queued", data: { control: asked } });
  goOn(draft);
}

/** Goes on once a summary is there, or has failed: with the step that waits for it, or between two turns. */
export function resumeAfterCompaction(draft: Draft): void {
  if (draft.state.turn !== undefined) return beginStep(draft);
  sayWaiting(draft);
  goOn(draft);
}

/** What there is to do between two turns, and then the next turn; nothing while one, or a summary, is under way. */
export function goOn(draft: Draft): void {
  while (draft.state.controls.length > 0 && draft.state.turn === undefined && draft.state.compaction === undefined) {
    runControl(draft, draft.state.controls[0]!);
  }
  startNextTurn(draft);
  expireSession(draft);
}

/** The session takes a message. */
export function sayWaiting(draft: Draft): void {
  draft.emit({
    public: true,
    type: "session.waiting",
    data: {
      wait: "next-user-message",
      usage: draft.state.usage,
      continuationToken: draft.state.sessionId,
    },
  });
}

function runControl(draft: Draft, asked: Control): void {
  draft.emit({ public: false, type: "control.taken", data: {} });
  switch (asked.kind) {
    case "retry":
      return retryTurn(draft, asked.turnId, asked.principal);
    case "compact":
      // A summary takes its time: the session waits for a message once it is there.
      if (!compactNow(draft)) sayWaiting(draft);
      return;
    case "clear":
      clearHistory(draft);
      sayWaiting(draft);
  }
}
