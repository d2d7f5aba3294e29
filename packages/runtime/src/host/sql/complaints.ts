import { messageOf } from "../../errors.ts";
import { isStoreProblem } from "./unusable.ts";

const QUIET_MS = 60_000;
/** Different complaints that are remembered. */
const MEMORY = 1_000;

type OnError = (error: unknown, sessionId: string | undefined) => void;

/**
 * Passes on what goes wrong, but the same at most once a minute: a disk that is full would be told of by every session
 * every second.
 */
export function createComplaints(onError: OnError, now: () => number): OnError {
  const told = new Map<string, number>();
  return (error, sessionId) => {
    const isStore = isStoreProblem(error);
    const key = `${isStore ? "" : (sessionId ?? "")} ${messageOf(error)}`;
    const at = now();
    if (at - (told.get(key) ?? -Infinity) < QUIET_MS) return;
    told.delete(key);
    told.set(key, at);
    if (told.size > MEMORY) told.delete(told.keys().next().value!);
    onError(error, sessionId);
  };
}
