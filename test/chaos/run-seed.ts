import type { BuiltWorkspace } from "../support/build-workspace.ts";
import { checkHistory } from "./check/check-history.ts";
import { createClient } from "./drive/client.ts";
import { converse } from "./drive/conversation.ts";
import { reachedBy, type Reached } from "./check/coverage.ts";
import type { History, Stream } from "./history.ts";
import { startPair, type Pair } from "./drive/pair.ts";
import { planLives } from "./plan/plan-lives.ts";
import { createRandom } from "./random.ts";
import { settle } from "./drive/settle.ts";
import { createTracks, type Tracks } from "./drive/track.ts";
import { BOUND_MS, createWatch, type Watch } from "./drive/watch.ts";

/** Sessions that are talked to at a time. */
const SESSIONS = 6;

export interface SeedReport {
  readonly seed: number;
  /** What was not as promised, one sentence each. */
  readonly violations: readonly string[];
  readonly reached: Reached;
  /** From the last restart until everything was over. */
  readonly recoveryMs: number;
  /** From the last restart, or the last 202 after it, until everything was over. */
  readonly quietMs: number;
  readonly durationMs: number;
  readonly history: History;
  readonly timeline: Watch["timeline"];
}

/** Runs both members under load, kills them as the seed says, and holds what was seen against what is promised. */
export async function runSeed(workspace: BuiltWorkspace, seed: number): Promise<SeedReport> {
  const startedAt = Date.now();
  const random = createRandom(seed);
  const watch = createWatch();
  await using pair = await startPair(workspace, planLives(random.fork("lives")), watch);
  await using tracks = createTracks(pair.caller, watch, random.fork("children"));
  let calm = false;
  const settled = pair.settled.then(() => void (calm = true));
  const client = createClient(pair.caller.api, watch);
  const talks = Array.from({ length: SESSIONS }, (_, n) =>
    converse({ client, tracks, watch, random: random.fork(`session ${n}`), isCalm: () => calm }),
  );
  for (const outcome of await Promise.allSettled([...talks, settled])) {
    if (outcome.status === "rejected") watch.unfinished.push(String(outcome.reason));
  }
  const streams = await settle(
    {
      origins: { caller: pair.caller.origin, peer: pair.peer.origin },
      roots: () => tracks.roots,
      effects: () => pair.effects(),
      pids: () => [pair.caller.pid!, pair.peer.pid!],
    },
    watch,
  );
  const overAt = Date.now();
  watch.note("everything is over");
  await pair.stop();

  const history = toHistory(watch, tracks, pair, streams);
  const accepted = history.messages.flatMap(({ answers }) => answers.map(({ at }) => at));
  const quietMs = overAt - Math.max(watch.restartedAt, ...accepted);
  const late = quietMs > BOUND_MS ? [`everything was over ${quietMs} ms after the last restart or message`] : [];
  return {
    seed,
    violations: [...checkHistory(history), ...late],
    reached: reachedBy(history, tracks.reconnects),
    recoveryMs: overAt - watch.restartedAt,
    quietMs,
    durationMs: overAt - startedAt,
    history,
    timeline: watch.timeline,
  };
}

function toHistory(watch: Watch, tracks: Tracks, pair: Pair, streams: readonly Stream[]): History {
  return {
    messages: watch.messages,
    stops: watch.stops,
    deaths: watch.deaths,
    effects: pair.effects(),
    unfinished: [...watch.unfinished, ...tracks.failures()],
    streams: streams.map((stream) => ({ ...stream, reads: [...stream.reads, ...tracks.readsOf(stream.sessionId)] })),
  };
}
