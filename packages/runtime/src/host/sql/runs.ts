import type { Effect } from "../../engine/decide.ts";
import { deltaLength, joinDelta } from "../../engine/delta.ts";
import type { EffectInput } from "../../engine/input.ts";
import type { Delta, FaultPoint, Perform } from "../../engine/ports.ts";
import type { SessionState } from "../../engine/state.ts";
import { publicMessageOf } from "../../errors.ts";

/** Text that a model streams is stored at least this often. */
const DELTA_DELAY_MS = 25;
const DELTA_LENGTH = 4_096;
/** Runs of an effect whose performer throws, before it counts as failed. */
const MAX_RUNS = 3;

/** An effect that was started and whose result is not stored yet. */
export interface Run {
  readonly effect: Effect;
  readonly controller: AbortController;
  /** Of the message that asks it to stop early. */
  readonly steering: AbortController;
  /** Text that is not stored yet. */
  deltas: readonly Delta[];
  timer?: NodeJS.Timeout;
  /** It has a result; nothing of it is left to abort. */
  settled: boolean;
  /** Resolves when it is. */
  readonly over: PromiseWithResolvers<void>;
}

export interface RunsOptions {
  readonly perform: Perform;
  /** State of the session that an effect starts in. */
  readonly state: () => SessionState;
  readonly fault?: (point: FaultPoint) => void;
  /** Milliseconds before a performer that threw runs again. */
  readonly retryMs: number;
  readonly onError: (error: unknown) => void;
  readonly onSettled: (run: Run, input: EffectInput) => void;
  /** Text of a run waits to be stored. */
  readonly onText: (run: Run) => void;
}

/** The effects of one session that are under way. */
export interface Runs {
  /** Aborts what runs and is not wanted. */
  stopUnwanted(wanted: ReadonlyMap<string, Effect>): void;
  /** Starts what is wanted and does not run; asks what runs and is steered to stop early. */
  startMissing(wanted: ReadonlyMap<string, Effect>, interrupted: ReadonlySet<string>): void;
  get(effectId: string): Run | undefined;
  /** False for what was replaced or is not wanted any more. */
  isCurrent(run: Run): boolean;
  end(run: Run): void;
  /** Takes the text that is to be stored. */
  takeText(run: Run): readonly Delta[];
  /** Gives it back when it could not be. */
  returnText(run: Run, deltas: readonly Delta[]): void;
  /** Resolves when all that `matches` have a result, or are not wanted any more. */
  settled(matches: (effect: Effect) => boolean): Promise<unknown>;
  count(): number;
  /** Aborts all. */
  clear(): void;
}

export function createRuns(options: RunsOptions): Runs {
  const { perform, fault, retryMs, onError, onSettled, onText } = options;
  const running = new Map<string, Run>();

  const isCurrent = (run: Run): boolean => running.get(run.effect.id) === run;
  const end = (run: Run): void => {
    running.delete(run.effect.id);
    clearTimeout(run.timer);
    run.over.resolve();
  };
  const abort = (run: Run): void => {
    end(run);
    if (!run.settled) run.controller.abort();
  };
  const settle = (run: Run, input: EffectInput): void => {
    run.settled = true;
    onSettled(run, input);
    run.over.resolve();
  };

  const start = async (run: Run, interrupted: boolean, runs = 1): Promise<void> => {
    const { effect, controller, steering } = run;
    try {
      fault?.("effect:before");
      const input = await perform(effect, {
        state: options.state(),
        signal: controller.signal,
        steered: steering.signal,
        interrupted,
        stream: (delta) => void (isCurrent(run) && stream(run, delta)),
      });
      if (!isCurrent(run)) return;
      if (input === undefined) return run.over.resolve();
      fault?.("effect:after");
      settle(run, input);
    } catch (error) {
      if (!isCurrent(run)) return;
      onError(error);
      if (runs >= MAX_RUNS) {
        return settle(run, { kind: "effect.failed", effectId: effect.id, message: publicMessageOf(error) });
      }
      setTimeout(() => {
        if (isCurrent(run)) void start(run, true, runs + 1);
      }, retryMs).unref();
    }
  };

  const stream = (run: Run, delta: Delta): void => {
    run.deltas = joinDelta(run.deltas, delta);
    if (run.deltas.reduce((length, waiting) => length + deltaLength(waiting), 0) >= DELTA_LENGTH) onText(run);
    else run.timer ??= setTimeout(onText, DELTA_DELAY_MS, run);
  };

  return {
    isCurrent,
    end,
    stopUnwanted: (wanted) => {
      for (const [id, run] of running) if (!wanted.has(id)) abort(run);
    },
    startMissing: (wanted, interrupted) => {
      for (const effect of wanted.values()) {
        const steered = effect.kind === "tool" && effect.steered;
        const known = running.get(effect.id);
        if (known !== undefined) {
          if (steered) known.steering.abort();
          continue;
        }
        const run: Run = {
          effect,
          controller: new AbortController(),
          steering: new AbortController(),
          deltas: [],
          settled: false,
          over: Promise.withResolvers(),
        };
        if (steered) run.steering.abort();
        running.set(effect.id, run);
        void start(run, interrupted.has(effect.id));
      }
    },
    get: (effectId) => running.get(effectId),
    takeText: (run) => {
      const { deltas } = run;
      run.deltas = [];
      clearTimeout(run.timer);
      delete run.timer;
      return deltas;
    },
    returnText: (run, deltas) => {
      run.deltas = run.deltas.reduce<readonly Delta[]>(joinDelta, deltas);
    },
    settled: (matches) =>
      Promise.all([...running.values()].filter(({ effect }) => matches(effect)).map(({ over }) => over.promise)),
    count: () => running.size,
    clear: () => {
      for (const run of running.values()) abort(run);
    },
  };
}
