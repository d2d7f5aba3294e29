import type { SessionHead } from "../../engine/ports.ts";

/** What is told of a session without reading its events. */
export function toSummary(head: SessionHead): Record<string, unknown> {
  const { sessionId, agentName, status, createdAt, updatedAt, endedAt, nextIndex, parentSessionId } = head;
  return {
    sessionId,
    agentName,
    status,
    createdAt: new Date(createdAt).toISOString(),
    updatedAt: new Date(updatedAt).toISOString(),
    ...(endedAt === undefined ? {} : { endedAt: new Date(endedAt).toISOString() }),
    ...(parentSessionId === undefined ? {} : { parentSessionId }),
    events: nextIndex,
  };
}
