import { advance } from "../../engine/advance.ts";
import { deadline } from "../../engine/deadline.ts";
import { decide } from "../../engine/decide.ts";
import type { Entry } from "../../engine/entry.ts";
import type { Advance, EffectInput, Input, Post, Surroundings } from "../../engine/input.ts";
import type { Delta, FaultPoint, Perform } from "../../engine/ports.ts";
import type { SessionState } from "../../engine/state.ts";
import { publicMessageOf } from "../../errors.ts";
import { fold, isSnapshotDue, type Tail } from "./fold.ts";
import { interrupt, isIrreversible, stoppedInOrder } from "./interruption.ts";
import { createRuns, type Run } from "./runs.ts";
import { StaleVersion, Unprocessable, type Mail, type Store } from "./store.ts";
import { isStoreProblem } from "./unusable.ts";

/** Wait before what threw is tried again, doubled each time up to the longest. */
const RETRY_MS = 1_000;
const LONGEST_RETRY_MS = { store: 5_000, other: 60_000 } as const;

export interface ActorOptions {
  readonly store: Store;
  readonly perform: Perform;
  readonly surroundings: (session: {
    readonly sessionId: string;
    readonly nodeId: string;
  }) => Omit<Surroundings, "now">;
  readonly newEventId: () => string;
  readonly now: () => number;
  readonly onError: (error: unknown, sessionId: string) => void;
  readonly fault?: (point: FaultPoint) => void;
  readonly retryMs?: number;
  readonly wake: (sessionId: string) => void;
  readonly changed: (sessionId: string) => void;
  /** Told of every commit. */
  readonly committed: (
    state: SessionState,
    commit: { readonly due: number | undefined; readonly active: boolean },
  ) => void;
}

/** One session in memory: takes its mail and the results of its effects one at a time. */
export interface Actor {
  /** Looks for mail; resolves when what there was to do at once is done, or could not be. */
  wake(): Promise<void>;
  /** Tells the session that its time may have come. */
  tell(): Promise<void>;
  /** @throws whatever keeps the session from being read. */
  state(): Promise<SessionState | undefined>;
  /** Nothing runs and nothing waits. */
  idle(): boolean;
  /** Stops all effects and notes that they were. What must not be interrupted is waited for until `grace` resolves. */
  stop(grace: Promise<unknown>): Promise<void>;
  /** Drops the session from memory: it is not there any more. */
  drop(): void;
}

interface WriteOptions {
  readonly posts?: readonly Post[];
  readonly taken?: number;
  readonly resumed?: boolean;
}

interface ApplyOptions {
  readonly before?: readonly Delta[];
  readonly taken?: number;
  readonly effectId?: string;
}

/** Effects that were wanted when an earlier process stopped. */
const NONE: ReadonlySet<string> = new Set();

export function createActor(sessionId: string, options: ActorOptions): Actor {
  const { store, retryMs = RETRY_MS } = options;
  let state: SessionState | undefined;
  let version = -1;
  let tail: Tail = { snapshotLength: 0, length: 0 };
  let mailWaits = true;
  let timeWaits = false;
  let phase: "open" | "closing" | "stopped" = "open";
  let working: Promise<void> | undefined;
  let retry: NodeJS.Timeout | undefined;
  let failures = 0;
  let failure: unknown;
  const settled: { readonly run: Run; readonly input: EffectInput }[] = [];
  const texts = new Set<Run>();
  const runs = createRuns({
    perform: options.perform,
    ...(options.fault === undefined ? {} : { fault: options.fault }),
    retryMs,
    onError: (error) => options.onError(error, sessionId),
    onSettled: (run, input) => {
      settled.push({ run, input });
      void work();
    },
    onText: (run) => {
      texts.add(run);
      void work();
    },
  });

  const work = (): Promise<void> => {
    if (retry !== undefined || phase === "stopped") return Promise.resolve();
    return (working ??= drain().finally(() => {
      working = undefined;
      if (hasWork()) void work();
    }));
  };

  const hasWork = (): boolean => {
    if (phase === "stopped") return false;
    return settled.length > 0 || texts.size > 0 || (phase === "open" && (mailWaits || timeWaits));
  };

  const drain = async (): Promise<void> => {
    try {
      if (version < 0) await load();
      while (hasWork()) {
        const result = settled[0];
        if (result !== undefined) {
          await settle(result.run, result.input);
          settled.shift();
        }
        for (const run of texts) await storeText(run);
        if (phase !== "open") continue;
        if (timeWaits) {
          await apply({ kind: "time.passed" }, {});
          timeWaits = false;
        }
        if (mailWaits) {
          mailWaits = false;
          for (const mail of await store.mail(sessionId)) await receive(mail);
        }
      }
      failures = 0;
      failure = undefined;
    } catch (error) {
      recover(error);
    }
  };

  /**
   * When only the store failed, what is in memory is right and waits: no result is lost. A stale version is no fault:
   * another process owns the session now, or this one must read it again.
   */
  const recover = (error: unknown): void => {
    if (phase === "stopped") return;
    failure = error;
    const { [isStoreProblem(error) ? "store" : "other"]: longest } = LONGEST_RETRY_MS;
    if (!isStoreProblem(error)) forget();
    if (!(error instanceof StaleVersion)) options.onError(error, sessionId);
    mailWaits = true;
    const delay = Math.min(retryMs * 2 ** failures++, longest);
    retry = setTimeout(tryAgain, delay).unref();
  };

  const tryAgain = (): Promise<void> => {
    clearTimeout(retry);
    retry = undefined;
    return work();
  };

  /** Folds the log. Whatever should be running now was running when an earlier process stopped. */
  const load = async (): Promise<void> => {
    const log = await store.load(sessionId);
    if (log === undefined) return drop();
    try {
      state = fold(log);
      version = log.version;
      tail = log;
      if (state !== undefined) await takeUp(state, new Set(log.stopped));
    } catch (error) {
      forget();
      throw error;
    }
  };

  const takeUp = async (before: SessionState, stopped: ReadonlySet<string>): Promise<void> => {
    const wanted = decide(before).map(({ id }) => id);
    const cut = wanted.filter((id) => !stopped.has(id));
    const { entries, posts, state: next } = interrupt(before, cut, around(before.nodeId));
    if (entries.length > 0 || stopped.size > 0) await write(entries, next, { posts, resumed: stopped.size > 0 });
    followState(new Set(wanted));
  };

  const settle = async (run: Run, input: EffectInput): Promise<void> => {
    if (!runs.isCurrent(run)) return;
    texts.delete(run);
    const { id: effectId } = run.effect;
    const before = runs.takeText(run);
    const step = { before, effectId };
    try {
      await applyOr(input, step, ({ cause }) =>
        apply({ kind: "effect.failed", effectId, message: publicMessageOf(cause) }, step),
      );
      // Its result may have made nothing, and it stay wanted.
      if (runs.isCurrent(run)) restart(run);
    } catch (error) {
      runs.returnText(run, before);
      throw error;
    }
  };

  const restart = (run: Run): void => {
    runs.end(run);
    followState(NONE);
  };

  const receive = ({ input, position: taken }: Mail): Promise<void> =>
    applyOr(input, { taken }, () =>
      applyOr({ kind: "mail.rejected", mail: input }, { taken }, () => write([], state, { taken })),
    );

  /** An input that can not be processed would not be the next time either: it is replaced, so that it blocks nothing. */
  const applyOr = async (
    input: Input,
    step: ApplyOptions,
    replace: (error: Unprocessable) => Promise<void>,
  ): Promise<void> => {
    try {
      await apply(input, step);
    } catch (error) {
      if (!(error instanceof Unprocessable)) throw error;
      options.onError(error.cause, sessionId);
      await replace(error);
    }
  };

  const storeText = async (run: Run): Promise<void> => {
    texts.delete(run);
    const deltas = runs.takeText(run);
    if (deltas.length === 0 || !runs.isCurrent(run)) return;
    try {
      await write(deltas, state);
    } catch (error) {
      runs.returnText(run, deltas);
      texts.add(run);
      throw error;
    }
  };

  const apply = async (input: Input, { before = [], taken, effectId }: ApplyOptions): Promise<void> => {
    const { entries, posts, state: next } = decideOn(input, effectId);
    if (entries.length > 0 || posts.length > 0 || taken !== undefined || before.length > 0) {
      await write([...before, ...entries], next, { posts, ...(taken === undefined ? {} : { taken }) });
    }
    followState(NONE);
  };

  const decideOn = (input: Input, effectId: string | undefined): Advance => {
    const nodeId = input.kind === "open" ? input.nodeId : (state?.nodeId ?? "root");
    try {
      return advance(state, input, around(nodeId), effectId);
    } catch (error) {
      throw new Unprocessable(error);
    }
  };

  const around = (nodeId: string): Surroundings => ({
    ...options.surroundings({ sessionId, nodeId }),
    now: options.now(),
  });

  const write = async (
    entries: readonly Entry[],
    next: SessionState | undefined,
    { posts = [], taken, resumed = false }: WriteOptions = {},
  ): Promise<void> => {
    const effects = next === undefined ? [] : decide(next);
    const due = next && deadline(next);
    const active = effects.length > 0;
    const keep = next !== undefined && entries.length > 0 && isSnapshotDue(tail, next);
    options.fault?.("commit:before");
    const written = await store.commit({
      sessionId,
      version,
      at: options.now(),
      entries: entries.map((entry) => (entry.public ? { entry, id: options.newEventId() } : { entry })),
      ...(taken === undefined ? {} : { taken }),
      posts,
      active,
      working: next?.turn !== undefined || effects.some(({ kind }) => kind !== "outgoing"),
      ended: next?.ended ?? false,
      due,
      resumed,
      ...(keep ? { snapshot: next } : {}),
    });
    options.fault?.("commit:after");
    state = next;
    version += entries.length;
    tail = keep
      ? { snapshotLength: written.snapshotLength ?? 0, length: 0 }
      : { ...tail, length: tail.length + written.length };
    if (entries.some((entry) => entry.public)) options.changed(sessionId);
    for (const post of posts) options.wake(post.sessionId);
    if (next !== undefined) options.committed(next, { due, active });
  };

  /** Starts what should run and does not, aborts what runs and should not. */
  const followState = (interrupted: ReadonlySet<string>): void => {
    if (state === undefined || phase === "stopped") return;
    const wanted = new Map(decide(state).map((effect) => [effect.id, effect]));
    runs.stopUnwanted(wanted);
    if (phase === "open") runs.startMissing(wanted, state, interrupted);
  };

  /** Drops what is in memory; the log has it all. */
  const forget = (): void => {
    runs.clear();
    texts.clear();
    settled.length = 0;
    state = undefined;
    version = -1;
  };

  const drop = (): void => {
    phase = "stopped";
    clearTimeout(retry);
    forget();
  };

  return {
    wake: () => {
      mailWaits = true;
      return work();
    },
    tell: () => {
      timeWaits = true;
      return work();
    },
    state: async () => {
      if (version < 0) await tryAgain();
      else await working;
      if (version < 0 && failure !== undefined) throw failure;
      return state;
    },
    idle: () => working === undefined && retry === undefined && runs.count() === 0 && !hasWork(),
    stop: async (grace) => {
      phase = "closing";
      await Promise.race([grace, runs.settled(isIrreversible)]);
      await working;
      const ids = state === undefined ? [] : stoppedInOrder(state, (id) => runs.get(id) !== undefined);
      const at = version;
      drop();
      try {
        if (ids.length > 0) await store.noteStopped(sessionId, at, ids);
      } catch (error) {
        options.onError(error, sessionId);
      }
    },
    drop,
  };
}
