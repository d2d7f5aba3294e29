import { followEvents, readLines, type EventReader, type ReadEvent } from "../../support/event-reader.ts";
import type { Stream } from "../history.ts";
import type { Random } from "../random.ts";
import type { Watch } from "./watch.ts";

/** Streams of children that are followed while they come, at most. */
const MAX_CHILDREN = 10;

/** What a client knows of a session whose stream it follows. */
export interface Track {
  readonly sessionId: string;
  /** The turn that read a delivery. */
  turnOf(deliveryId: string): string | undefined;
  /** The event that ended a turn. */
  endOf(turnId: string): string | undefined;
  /** Whether there was such an event in a turn. */
  has(turnId: string, type: string): boolean;
  ended(): boolean;
  reconnect(): void;
  /** Reads what there is from some index on, in a request of its own. */
  readAgain(random: Random): Promise<void>;
}

export interface Tracks extends AsyncDisposable {
  follow(sessionId: string): Track;
  readonly roots: readonly string[];
  /** Connections that were opened after the first of each reader. */
  readonly reconnects: number;
  /** What was read of a session so far. */
  readsOf(sessionId: string): Stream["reads"];
  /** Answers that a reader must not get. */
  failures(): string[];
}

const ENDS = new Set(["turn.completed", "turn.failed", "turn.cancelled"]);

/** Follows sessions of a member, and some of the children that they announce. */
export function createTracks(
  member: { readonly origin: string; readonly api: string },
  watch: Watch,
  random: Random,
): Tracks {
  const readers: { readonly sessionId: string; readonly what: string; readonly reader: EventReader }[] = [];
  const extra: { readonly sessionId: string; readonly from: number; readonly lines: readonly string[] }[] = [];
  const tracks = new Map<string, Track>();
  let children = 0;

  const read = (sessionId: string, what: string, url: string, onEvent?: (read: ReadEvent) => void): EventReader => {
    const reader = followEvents(url, {}, onEvent);
    readers.push({ sessionId, what, reader });
    return reader;
  };
  const followChild = (sessionId: string, path: string): void => {
    if (children >= MAX_CHILDREN || !random.chance(15)) return;
    children++;
    read(sessionId, "followed as a child", `${member.origin}${path}`);
  };

  const track = (sessionId: string): Track => {
    const url = `${member.api}/session/${sessionId}/stream`;
    const turns = new Map<string, string>();
    const ends = new Map<string, string>();
    const seen = new Set<string>();
    const reader = read(sessionId, "followed", url, ({ event }) => {
      const { type, data, meta } = event;
      if ("turnId" in data && data.turnId !== undefined) {
        seen.add(`${data.turnId} ${type}`);
        for (const id of meta.deliveryIds ?? []) turns.set(id, data.turnId);
        if (ENDS.has(type)) ends.set(data.turnId, type);
      }
      if (type === "session.completed") seen.add(type);
      if (event.type === "agent.started") followChild(event.data.sessionId, event.data.streamPath);
      watch.see(type);
    });
    return {
      sessionId,
      turnOf: (deliveryId) => turns.get(deliveryId),
      endOf: (turnId) => ends.get(turnId),
      has: (turnId, type) => seen.has(`${turnId} ${type}`),
      ended: () => seen.has("session.completed"),
      reconnect: () => reader.reconnect(),
      readAgain: async (choices) => {
        const from = choices.between(0, reader.events.length);
        const lines = await readLines(`${url}?startIndex=${from}&follow=false`).catch(() => []);
        extra.push({ sessionId, from, lines });
      },
    };
  };

  return {
    follow: (sessionId) => {
      const known = tracks.get(sessionId) ?? track(sessionId);
      tracks.set(sessionId, known);
      return known;
    },
    get roots() {
      return [...tracks.keys()];
    },
    get reconnects() {
      return readers.reduce((sum, { reader }) => sum + Math.max(0, reader.connections - 1), 0);
    },
    readsOf: (sessionId) => [
      ...readers
        .filter((one) => one.sessionId === sessionId)
        .map(({ what, reader }) => ({ what, from: 0, lines: reader.events.map(({ line }) => line) })),
      ...extra.filter((one) => one.sessionId === sessionId).map((one) => ({ what: "read again", ...one })),
    ],
    failures: () =>
      readers.flatMap(({ sessionId, what, reader }) =>
        reader.failure === undefined ? [] : [`${sessionId}, ${what}: ${String(reader.failure)}`],
      ),
    [Symbol.asyncDispose]: async () => {
      await Promise.all(readers.map(({ reader }) => reader[Symbol.asyncDispose]()));
    },
  };
}
