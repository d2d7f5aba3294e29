import type { SessionHead, StoredEvent } from "../../engine/ports.ts";
import type { StoreReader } from "../../host/sql/store.ts";
import type { StreamEvent } from "../../protocol/events.ts";

type Reader = Pick<StoreReader, "list" | "head" | "descendants" | "startingWith" | "events">;

/** Times of sessions are minutes after this. */
export const START: number = Date.UTC(2026, 11, 1, 10);

export interface Recorded {
  readonly sessionId: string;
  readonly agentName?: string;
  readonly status?: SessionHead["status"];
  readonly parentSessionId?: string;
  readonly minute?: number;
  readonly events?: readonly Pick<StreamEvent, "type" | "data">[];
}

/** What a store answers that holds these sessions, the oldest first; it gives few of anything at a time. */
export function readerOf(recorded: readonly Recorded[]): Reader {
  const heads = recorded.map(toHead);
  const find = (id: string): SessionHead | undefined => heads.find(({ sessionId }) => sessionId === id);
  const childrenOf = (id: string): SessionHead[] => heads.filter(({ parentSessionId }) => parentSessionId === id);
  const descendants = (id: string): string[] =>
    childrenOf(id).flatMap(({ sessionId }) => [sessionId, ...descendants(sessionId)]);
  return {
    head: find,
    descendants,
    startingWith: (beginning, limit) =>
      heads.flatMap(({ sessionId }) => (sessionId.startsWith(beginning) ? [sessionId] : [])).slice(0, limit),
    list: ({ limit, cursor = "0" }) => {
      const roots = heads.filter(({ parentSessionId }) => parentSessionId === undefined).reverse();
      const end = Number(cursor) + Math.min(limit, 2);
      return { sessions: roots.slice(Number(cursor), end), ...(end < roots.length ? { cursor: String(end) } : {}) };
    },
    events: (id, from, limit) =>
      toEvents(recorded.find(({ sessionId }) => sessionId === id)!).slice(from, from + Math.min(limit, 3)),
  };
}

function toHead({
  sessionId,
  agentName = "lead",
  status = "waiting",
  parentSessionId,
  minute = 0,
  events = [],
}: Recorded): SessionHead {
  return {
    sessionId,
    nodeId: "root",
    agentName,
    ...(parentSessionId === undefined ? {} : { parentSessionId }),
    owner: { authenticator: "test", principalId: "ada", principalType: "user", attributes: {} },
    status,
    ended: status === "ended",
    nextIndex: events.length,
    createdAt: START + minute * 60_000,
    updatedAt: START + (minute + 1) * 60_000,
  };
}

function toEvents({ events = [], minute = 0 }: Recorded): StoredEvent[] {
  return events.map((event, index) => {
    const at = new Date(START + minute * 60_000 + index * 1_000).toISOString();
    return { index, line: JSON.stringify({ ...event, meta: { id: `evt_${index}`, at } }) };
  });
}

const TURN = { turnId: "turn_0", sequence: 0 };

/** The beginning of a session that was told something. */
export function told(message: string): Recorded["events"] & object {
  return [
    { type: "session.started", data: { runtime: { agentId: "root", agentName: "lead", eveVersion: "1" } } },
    { type: "turn.started", data: TURN },
    { type: "message.received", data: { ...TURN, message, parts: [{ type: "text", text: message }] } },
  ];
}

/** A session has called another one. */
export function started(name: string, sessionId: string): Pick<StreamEvent, "type" | "data"> {
  return { type: "agent.started", data: { callId: "c", turnId: "turn_0", name, sessionId, streamPath: "/x" } };
}

/** The session has said something. */
export function saying(message: string): Pick<StreamEvent, "type" | "data"> {
  return { type: "message.completed", data: { ...TURN, stepIndex: 0, message, finishReason: "stop" } };
}
