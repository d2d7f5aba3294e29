import { advance } from "../../engine/advance.ts";
import { decide, type Effect } from "../../engine/decide.ts";
import { deltaLength, joinDelta } from "../../engine/delta.ts";
import type { Advance, EffectInput, Input, Post, Surroundings } from "../../engine/input.ts";
import type { Delta, FaultPoint, Perform } from "../../engine/ports.ts";
import { reduce } from "../../engine/reduce.ts";
import type { Entry } from "../../engine/entry.ts";
import type { SessionState } from "../../engine/state.ts";
import { publicMessageOf } from "../../errors.ts";
import { StaleVersion, Unprocessable, type Mail, type Store } from "./store.ts";

/** Text that a model streams is stored at least this often. */
const DELTA_DELAY_MS = 25;
const DELTA_LENGTH = 4_096;
/** Wait before what threw is tried again. */
const RETRY_MS = 1_000;
/** Runs of an effect whose performer throws, before it counts as failed. */
const MAX_RUNS = 3;

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
}

/** One session in memory: takes its mail and the results of its effects one at a time. */
export interface Actor {
  wake(): void;
  state(): Promise<SessionState | undefined>;
  /** Nothing runs and nothing waits. */
  idle(): boolean;
  stop(): Promise<void>;
}

interface ApplyOptions {
  readonly before?: readonly Delta[];
  readonly taken?: number;
  readonly effectId?: string;
  readonly start?: boolean;
}

interface Running {
  readonly effect: Effect;
  readonly controller: AbortController;
  readonly steering: AbortController;
  deltas: Delta[];
  timer?: NodeJS.Timeout;
}

export function createActor(sessionId: string, options: ActorOptions): Actor {
  const { store, retryMs = RETRY_MS } = options;
  let state: SessionState | undefined;
  let version = -1;
  let mailWaits = true;
  let stopped = false;
  let working: Promise<void> | undefined;
  const running = new Map<string, Running>();
  const settled: { readonly run: Running; readonly input: EffectInput }[] = [];
  const flushes = new Set<Running>();
  /** Effects that an earlier process had begun, and this one has not. */
  const interrupted = new Set<string>();

  const wake = (): void => {
    mailWaits = true;
    work();
  };

  const work = (): void => {
    working ??= drain().finally(() => {
      working = undefined;
      if (!stopped && hasWork()) work();
    });
  };

  const hasWork = (): boolean => mailWaits || settled.length > 0 || flushes.size > 0;

  const drain = async (): Promise<void> => {
    try {
      if (version < 0) await load();
      while (!stopped && hasWork()) {
        const result = settled.shift();
        if (result !== undefined) await settle(result.run, result.input);
        for (const run of flushes) await flush(run);
        if (mailWaits) {
          mailWaits = false;
          for (const mail of await store.mail(sessionId)) await receive(mail);
          // Not before: what waited may be a cancel, and then nothing that a crash stopped runs again.
          startEffects();
        }
      }
    } catch (error) {
      forget();
      // A stale version is not a fault: another process owns the session now, or this one must read it again.
      if (!(error instanceof StaleVersion)) options.onError(error, sessionId);
      await new Promise((resolve) => setTimeout(resolve, retryMs).unref());
      mailWaits = true;
    }
  };

  /** Folds the log. Whatever should be running now was running when an earlier process stopped. */
  const load = async (): Promise<void> => {
    const log = await store.load(sessionId);
    if (log === undefined) throw new Error(`Session ${sessionId} is not in the store.`);
    state = log.entries.reduce<SessionState | undefined>(reduce, undefined);
    version = log.version;
    if (state === undefined) return;
    for (const { id } of decide(state)) {
      interrupted.add(id);
      await apply({ kind: "effect.interrupted", effectId: id }, { start: false });
    }
  };

  const settle = async (run: Running, input: EffectInput): Promise<void> => {
    if (running.get(run.effect.id) !== run) return;
    running.delete(run.effect.id);
    clearTimeout(run.timer);
    flushes.delete(run);
    const { id: effectId } = run.effect;
    const step = { before: run.deltas, effectId };
    await applyOr(input, step, ({ cause }) =>
      apply({ kind: "effect.failed", effectId, message: publicMessageOf(cause) }, step),
    );
  };

  const receive = ({ input, position: taken }: Mail): Promise<void> =>
    applyOr(input, { taken, start: false }, () =>
      applyOr({ kind: "mail.rejected", mail: input }, { taken, start: false }, () => write([], state, { taken })),
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

  const flush = async (run: Running): Promise<void> => {
    flushes.delete(run);
    const deltas = run.deltas;
    run.deltas = [];
    clearTimeout(run.timer);
    delete run.timer;
    if (deltas.length === 0 || running.get(run.effect.id) !== run) return;
    const began = state?.turn?.spoke === false && deltas.some(({ type }) => type === "message.appended");
    if (!began) return write(deltas, state);
    await apply({ kind: "model.began" }, { before: deltas, effectId: run.effect.id });
  };

  const apply = async (input: Input, { before = [], taken, effectId, start = true }: ApplyOptions): Promise<void> => {
    const { entries, posts, state: next } = decideOn(input, effectId);
    if (entries.length > 0 || posts.length > 0 || taken !== undefined || before.length > 0) {
      await write([...before, ...entries], next, { posts, ...(taken === undefined ? {} : { taken }) });
    }
    if (start) startEffects();
  };

  const decideOn = (input: Input, effectId: string | undefined): Advance => {
    const nodeId = input.kind === "open" ? input.nodeId : (state?.nodeId ?? "root");
    try {
      const around = { ...options.surroundings({ sessionId, nodeId }), now: options.now() };
      return advance(state, input, around, effectId);
    } catch (error) {
      throw new Unprocessable(error);
    }
  };

  const write = async (
    entries: readonly Entry[],
    next: SessionState | undefined,
    { posts = [], taken }: { posts?: readonly Post[]; taken?: number } = {},
  ): Promise<void> => {
    const at = options.now();
    options.fault?.("commit:before");
    await store.commit({
      sessionId,
      version,
      entries: entries.map((entry) => ({ entry, at, ...(entry.public ? { id: options.newEventId() } : {}) })),
      ...(taken === undefined ? {} : { taken }),
      posts,
      active: next !== undefined && decide(next).length > 0,
      ended: next?.ended ?? false,
    });
    options.fault?.("commit:after");
    state = next;
    version += entries.length;
    if (entries.some((entry) => entry.public)) options.changed(sessionId);
    for (const post of posts) options.wake(post.sessionId);
  };

  /** Starts what should run and does not, aborts what runs and should not. */
  const startEffects = (): void => {
    if (state === undefined || stopped) return;
    const wanted = new Map(decide(state).map((effect) => [effect.id, effect]));
    for (const [id, run] of running) {
      if (wanted.has(id)) continue;
      running.delete(id);
      clearTimeout(run.timer);
      flushes.delete(run);
      run.controller.abort();
    }
    for (const effect of wanted.values()) {
      if (!running.has(effect.id)) void start(effect, interrupted.delete(effect.id));
      if (effect.kind === "tool" && effect.steered) running.get(effect.id)?.steering.abort();
    }
  };

  const start = async (effect: Effect, interrupted: boolean, runs = 1): Promise<void> => {
    const run: Running = {
      effect,
      controller: new AbortController(),
      steering: new AbortController(),
      deltas: [],
    };
    if (effect.kind === "tool" && effect.steered) run.steering.abort();
    running.set(effect.id, run);
    const current = (): boolean => running.get(effect.id) === run && !stopped;
    try {
      options.fault?.("effect:before");
      const input = await options.perform(effect, {
        state: state!,
        signal: run.controller.signal,
        steered: run.steering.signal,
        interrupted,
        stream: (delta) => void (current() && stream(run, delta)),
      });
      if (!current() || input === undefined) return;
      options.fault?.("effect:after");
      settled.push({ run, input });
      work();
    } catch (error) {
      if (!current()) return;
      options.onError(error, sessionId);
      if (runs >= MAX_RUNS) {
        settled.push({ run, input: { kind: "effect.failed", effectId: effect.id, message: publicMessageOf(error) } });
        return work();
      }
      setTimeout(() => {
        if (current()) void start(effect, true, runs + 1);
      }, retryMs).unref();
    }
  };

  const stream = (run: Running, delta: Delta): void => {
    run.deltas = joinDelta(run.deltas, delta);
    const due = (): void => {
      flushes.add(run);
      work();
    };
    if (run.deltas.reduce((length, waiting) => length + deltaLength(waiting), 0) >= DELTA_LENGTH) due();
    else run.timer ??= setTimeout(due, DELTA_DELAY_MS);
  };

  /** Drops what is in memory; the log has it all. */
  const forget = (): void => {
    for (const run of running.values()) {
      clearTimeout(run.timer);
      run.controller.abort();
    }
    running.clear();
    flushes.clear();
    settled.length = 0;
    interrupted.clear();
    state = undefined;
    version = -1;
  };

  return {
    wake,
    state: async () => {
      if (version < 0) work();
      await working;
      return state;
    },
    idle: () => working === undefined && running.size === 0 && !hasWork(),
    stop: async () => {
      stopped = true;
      await working;
      forget();
    },
  };
}
