import { advance } from "../../engine/advance.ts";
import { decide } from "../../engine/decide.ts";
import type { Advance, EffectInput, Input, Surroundings } from "../../engine/input.ts";
import type { Delta, Perform } from "../../engine/ports.ts";
import type { SessionState } from "../../engine/state.ts";
import { publicMessageOf } from "../../errors.ts";
import { interrupt, isIrreversible, stoppedInOrder } from "./interruption.ts";
import { createRuns, type Run } from "./runs.ts";
import { createSessionRecord, type RecordOptions } from "./session-record.ts";
import { StaleVersion, Unprocessable, type Mail } from "./store.ts";
import { isStoreProblem } from "./unusable.ts";

/** Wait before what threw is tried again, doubled each time up to the longest. */
const RETRY_MS = 1_000;
const LONGEST_RETRY_MS = { store: 5_000, other: 60_000 } as const;

export interface ActorOptions extends RecordOptions {
  readonly perform: Perform;
  readonly surroundings: (session: {
    readonly sessionId: string;
    readonly nodeId: string;
  }) => Omit<Surroundings, "now">;
  readonly onError: (error: unknown, sessionId: string) => void;
  readonly retryMs?: number;
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

interface ApplyOptions {
  readonly before?: readonly Delta[];
  readonly taken?: number;
  readonly effectId?: string;
  /** Default true. */
  readonly start?: boolean;
}

const NONE: ReadonlySet<string> = new Set();

export function createActor(sessionId: string, options: ActorOptions): Actor {
  const { store, retryMs = RETRY_MS } = options;
  const record = createSessionRecord(sessionId, options);
  let mailWaits = true;
  let timeWaits = false;
  let phase: "open" | "closing" | "stopped" = "open";
  let working: Promise<void> | undefined;
  let retry: NodeJS.Timeout | undefined;
  let failures = 0;
  let failure: unknown;
  const settled: { readonly run: Run; readonly input: EffectInput }[] = [];
  const texts = new Set<Run>();
  /** Effects that an earlier process had begun, and this one has not. */
  let interrupted = NONE;
  const runs = createRuns({
    perform: options.perform,
    state: () => record.state!,
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
      if (!record.isLoaded) await load();
      while (hasWork()) {
        const result = settled[0];
        if (result !== undefined) {
          await settle(result.run, result.input);
          settled.shift();
        }
        for (const run of texts) await storeText(run);
        if (phase !== "open") continue;
        if (mailWaits) {
          mailWaits = false;
          for (const mail of await store.mail(sessionId)) await receive(mail);
          // Not before: what waited may be a cancel, and then nothing that a crash stopped runs again.
          followState();
        }
        // Behind what was accepted: a session whose time is up does that first.
        if (timeWaits) {
          await apply({ kind: "time.passed" }, {});
          await record.correctDue();
          timeWaits = false;
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
    const isStore = isStoreProblem(error);
    if (!isStore) forget();
    if (!(error instanceof StaleVersion)) options.onError(error, sessionId);
    mailWaits = true;
    const delay = Math.min(retryMs * 2 ** failures++, LONGEST_RETRY_MS[isStore ? "store" : "other"]);
    retry = setTimeout(tryAgain, delay).unref();
  };

  const tryAgain = (): Promise<void> => {
    clearTimeout(retry);
    retry = undefined;
    return work();
  };

  /** Whatever should be running now was running when an earlier process stopped. */
  const load = async (): Promise<void> => {
    try {
      const stopped = await record.load();
      if (stopped === undefined) drop();
      else if (record.state !== undefined) await takeUp(record.state, new Set(stopped));
    } catch (error) {
      forget();
      throw error;
    }
  };

  const takeUp = async (before: SessionState, stopped: ReadonlySet<string>): Promise<void> => {
    const wanted = decide(before).map(({ id }) => id);
    const cut = wanted.filter((id) => !stopped.has(id));
    const { entries, posts, state } = interrupt(before, cut, around(before.nodeId));
    const resumed = stopped.size > 0;
    if (entries.length > 0 || resumed) await record.write(entries, state, { posts, resumed });
    interrupted = new Set(wanted);
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
    } catch (error) {
      runs.returnText(run, before);
      throw error;
    }
    // Its result made nothing, and it is still wanted.
    if (runs.isCurrent(run)) {
      runs.end(run);
      followState();
    }
  };

  const receive = ({ input, position: taken }: Mail): Promise<void> =>
    applyOr(input, { taken, start: false }, () =>
      applyOr({ kind: "mail.rejected", mail: input }, { taken, start: false }, () =>
        record.write([], record.state, { taken }),
      ),
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
    const begins = record.state?.turn?.spoke === false && deltas.some(({ type }) => type === "message.appended");
    try {
      if (begins) await apply({ kind: "model.began" }, { before: deltas, effectId: run.effect.id });
      else await record.write(deltas, record.state);
    } catch (error) {
      runs.returnText(run, deltas);
      texts.add(run);
      throw error;
    }
  };

  const apply = async (input: Input, { before = [], taken, effectId, start = true }: ApplyOptions): Promise<void> => {
    const { entries, posts, state } = decideOn(input, effectId);
    if (entries.length > 0 || posts.length > 0 || taken !== undefined || before.length > 0) {
      await record.write([...before, ...entries], state, { posts, ...(taken === undefined ? {} : { taken }) });
    }
    followState(start);
  };

  const decideOn = (input: Input, effectId: string | undefined): Advance => {
    const nodeId = input.kind === "open" ? input.nodeId : (record.state?.nodeId ?? "root");
    try {
      return advance(record.state, input, around(nodeId), effectId);
    } catch (error) {
      throw new Unprocessable(error);
    }
  };

  const around = (nodeId: string): Surroundings => ({
    ...options.surroundings({ sessionId, nodeId }),
    now: options.now(),
  });

  /** Aborts what runs and should not, starts what should and does not. */
  const followState = (start = true): void => {
    if (record.state === undefined || phase === "stopped") return;
    const wanted = new Map(decide(record.state).map((effect) => [effect.id, effect]));
    runs.stopUnwanted(wanted);
    if (!start || phase !== "open") return;
    runs.startMissing(wanted, interrupted);
    interrupted = NONE;
  };

  /** Drops what is in memory; the log has it all. */
  const forget = (): void => {
    runs.clear();
    texts.clear();
    settled.length = 0;
    interrupted = NONE;
    record.forget();
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
      if (record.isLoaded) await working;
      else await tryAgain();
      if (!record.isLoaded && failure !== undefined) throw failure;
      return record.state;
    },
    idle: () => working === undefined && retry === undefined && runs.count() === 0 && !hasWork(),
    stop: async (grace) => {
      phase = "closing";
      await Promise.race([grace, runs.settled(isIrreversible)]);
      await working;
      const { state, version } = record;
      const ids = state === undefined ? [] : stoppedInOrder(state, (id) => runs.get(id) !== undefined);
      drop();
      try {
        if (ids.length > 0) await store.noteStopped(sessionId, version, ids);
      } catch (error) {
        options.onError(error, sessionId);
      }
    },
    drop,
  };
}
