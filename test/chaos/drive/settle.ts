import { isAtRest, readFamilies, type AtRest, type Origins, type Root } from "./family.ts";
import type { Effect, Stream } from "./history.ts";
import { openEffects } from "./record.ts";
import type { Watch } from "./watch.ts";

export interface Sources {
  readonly origins: Origins;
  /** Sessions that people opened at the caller. */
  readonly roots: () => readonly string[];
  readonly effects: () => readonly Effect[];
  /** Processes that are alive. */
  readonly pids: () => readonly number[];
}

interface Found {
  readonly streams: readonly Stream[];
  readonly busy: readonly string[];
}

/** Waits until no session has anything left to do, and returns all streams; what is never at rest is noted. */
export async function settle(sources: Sources, watch: Watch): Promise<readonly Stream[]> {
  const known: AtRest = new Map();
  try {
    return await watch.patiently("everything is at rest", async () => {
      if ((await look(sources, known)).busy.length > 0) return undefined;
      // Once more from the beginning: nobody woke anybody meanwhile.
      known.clear();
      const { streams, busy } = await look(sources, known);
      return busy.length > 0 ? undefined : streams;
    });
  } catch (error) {
    const { streams, busy } = await look(sources, new Map());
    watch.unfinished.push(error instanceof Error ? error.message : String(error), ...busy);
    return streams;
  }
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
  const busy = streams.filter((stream) => !isOver(stream));
  return {
    streams,
    busy: [
      ...pids().flatMap((pid) => openEffects(effects(), pid)),
      ...busy.map(({ sessionId, lines }) => `${sessionId} ends with ${lines.at(-1) ?? "nothing"}`),
    ],
  };
}

/** Whoever was never announced has a caller that was reset, and is to be reset, too. */
function isOver({ lines, isHidden }: Stream): boolean {
  return isAtRest(lines) && (isHidden !== true || lines.at(-1)!.includes('"session.completed"'));
}
