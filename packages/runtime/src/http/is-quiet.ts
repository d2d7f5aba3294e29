import { decide } from "../engine/decide.ts";
import type { Host } from "../engine/ports.ts";
import type { SessionState } from "../engine/state.ts";
import type { Store } from "../host/sql/store.ts";

/** With more of them at work it is not quiet, whatever they do. */
const MOST_SESSIONS = 200;

/**
 * True when no model and no tool works for any session, and none is about to: ending the process now interrupts
 * nothing that would have to be done again. Calls of remote agents may be under way, for another process goes on with
 * them where they are.
 */
export async function isQuiet(host: Pick<Host, "state">, store: Pick<Store, "active">): Promise<boolean> {
  let before: readonly (SessionState | undefined)[] | undefined;
  for (;;) {
    const sessions = await store.active(undefined, MOST_SESSIONS);
    if (sessions.length === MOST_SESSIONS) return false;
    const states = await Promise.all(sessions.map(({ sessionId }) => host.state(sessionId)));
    if (states.some(works)) return false;
    // What one session decided while another was looked at may have woken a third.
    if (states.length === before?.length && states.every((state, index) => state === before![index])) return true;
    before = states;
  }
}

function works(state: SessionState | undefined): boolean {
  return (
    state !== undefined && decide(state).some(({ kind }) => kind === "model" || kind === "tool" || kind === "compact")
  );
}
