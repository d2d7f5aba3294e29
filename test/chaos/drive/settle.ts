import { isAtRest, isEnded, readFamilies, type AtRest, type Origins, type Root } from "./family.ts";
import type { StreamEvent } from "../../../packages/runtime/src/protocol/events.ts";
import type { Effect, Stream } from "../history.ts";
import { openEffects } from "./effect-record.ts";
import type { Watch } from "./watch.ts";

export interface Sources {
  readonly origins: Origins;
  /** Sessions that people opened at the caller. */
  readonly roots: () => readonly string[];
  readonly effects: () => readonly Effect[];
  /** Processes that are alive. */
  readonly pids: () => readonly number[];
}

/** Longer than a member waits before it tries a peer again that it could not reach. */
const RETRY_GAP_MS = 6_000;

interface Found {
  readonly streams: readonly Stream[];
  readonly busy: readonly string[];
}

/** Waits until no session has anything left to do, and returns all streams; what is never at rest is noted. */
export async function settle(sources: Sources, watch: Watch): Promise<readonly Stream[]> {
  const known: AtRest = new Map();
  let last: Found = { streams: [], busy: ["nobody answered"] };
  const isOver = async (): Promise<true | undefined> => {
    last = await look(sources, known);
    if (last.busy.length > 0) return undefined;
    if (isPending(last.streams) && Date.now() < watch.restartedAt + RETRY_GAP_MS) return undefined;
    // Once more from the beginning: nobody woke anybody meanwhile.
    known.clear();
    last = await look(sources, known);
    return last.busy.length > 0 ? undefined : true;
  };
  const orFailed = (error: unknown): undefined => {
    last = { ...last, busy: [error instanceof Error ? error.message : String(error)] };
  };
  try {
    await watch.patiently("everything is at rest", () => isOver().catch(orFailed));
  } catch (error) {
    watch.unfinished.push(error instanceof Error ? error.message : String(error), ...last.busy);
  }
  return last.streams;
}

async function look({ origins, roots, effects, pids }: Sources, known: AtRest): Promise<Found> {
  const people: Root[] = roots().map((sessionId) => ({ sessionId, member: "caller" }));
  const families = await readFamilies(origins, people, known);
  const announced = new Set(families.map(({ sessionId }) => sessionId));
  const strangers = new Map<string, Root>();
  for (const { session, member } of effects()) {
    if (session === undefined || announced.has(session)) continue;
    strangers.set(session, { sessionId: session, member, isHidden: true });
  }
  const hidden = await readFamilies(origins, [...strangers.values()], known);
  const streams = [...families, ...hidden.filter(({ sessionId }) => !announced.has(sessionId))];
  const ended = new Set(streams.flatMap(({ sessionId, lines }) => (isEnded(lines) ? [sessionId] : [])));
  const busy = streams.filter(({ lines, parent, isHidden }) =>
    isHidden === true || ended.has(parent?.sessionId ?? "") ? !isEnded(lines) : !isAtRest(lines),
  );
  return {
    streams,
    busy: [
      ...pids().flatMap((pid) => openEffects(effects(), pid)),
      ...busy.map(({ sessionId, lines }) => `${sessionId} ends with ${lines.at(-1) ?? "nothing"}`),
    ],
  };
}

/** A remote call has been cancelled before the remote was reached: it will be, and its session be announced. */
function isPending(streams: readonly Stream[]): boolean {
  return streams.some(({ lines }) => {
    if (isEnded(lines)) return false;
    const events = lines.map((line) => JSON.parse(line) as StreamEvent);
    const announced = new Set(events.flatMap(({ type, data }) => (type === "agent.started" ? [data.taskId] : [])));
    return events.some(({ type, data }) => type === "task.started" && !announced.has(data.taskId));
  });
}
