import type { Principal } from "../protocol/principal.ts";
import type { Draft } from "./draft.ts";
import { beginStep, receive } from "./step.ts";

/** Starts the turn of the oldest message that waits; messages of the same caller right behind it join. */
export function startNextTurn(draft: Draft): void {
  const { queue, ended, turn, compaction } = draft.state;
  const [first] = queue;
  if (first === undefined || ended || turn !== undefined || compaction !== undefined) return;
  startTurn(draft, first.principal, {});
  receive(draft, first);
  beginStep(draft);
}

/** Does the last turn again, with all that it had been told (§16). What has been said since has taken its place. */
export function retryTurn(draft: Draft, turnId: string, principal: Principal): void {
  if (draft.state.failed?.turnId !== turnId) return;
  startTurn(draft, principal, { retryOf: turnId });
  beginStep(draft);
}

/** Says, before anything else of it, that the session is there. */
export function announceSession(draft: Draft): void {
  const { around, state } = draft;
  if (state.started) return;
  draft.emit({
    public: true,
    type: "session.started",
    data: {
      runtime: { agentId: state.nodeId, agentName: state.agentName, eveVersion: around.eveVersion },
      ...(state.forkedFrom === undefined ? {} : { predecessor: state.forkedFrom }),
    },
  });
}

function startTurn(draft: Draft, principal: Principal, again: { readonly retryOf?: string }): void {
  announceSession(draft);
  const sequence = draft.state.nextSequence;
  draft.emit({
    public: true,
    type: "turn.started",
    data: { turnId: `turn_${sequence}`, sequence, ...again },
    inner: { principal },
  });
}
