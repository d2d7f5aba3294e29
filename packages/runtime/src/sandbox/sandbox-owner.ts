import type { SessionState } from "../engine/state.ts";

export type SandboxSession = Pick<SessionState, "sessionId" | "nodeId" | "origin">;

/**
 * Whose sandbox a session works in. Its own, except that a copy of the root works in that of the session which opened
 * it (contract §7): it is the one local child that runs the root itself, and only top-level sessions open one.
 */
export function sandboxOwner({ sessionId, nodeId, origin }: SandboxSession): string {
  return origin.kind === "local" && nodeId === "root" ? origin.parentSessionId : sessionId;
}
