/** Calls back once, in `ms` milliseconds. Returns how to call it off. */
export type Schedule = (ms: number, callback: () => void) => () => void;

/** A timer takes no more than 2^31 milliseconds, and does not notice that a machine slept or its clock was set. */
const LONGEST_MS = 3_600_000;

export const schedule: Schedule = (ms, callback) => {
  const timer = setTimeout(callback, ms).unref();
  return () => clearTimeout(timer);
};

export interface AlarmOptions {
  readonly now: () => number;
  readonly schedule: Schedule;
  readonly ring: () => void;
}

/** One timer for all sessions: rings at the earliest of the times it was set to. */
export interface Alarm {
  set(at: number): void;
  stop(): void;
}

export function createAlarm({ now, schedule, ring }: AlarmOptions): Alarm {
  let earliest = Infinity;
  let cancel = (): void => {};
  const wait = (): void => {
    cancel();
    cancel = schedule(Math.min(Math.max(0, earliest - now()), LONGEST_MS), () => {
      if (now() < earliest) return wait();
      earliest = Infinity;
      ring();
    });
  };
  return {
    set: (at) => {
      if (at >= earliest) return;
      earliest = at;
      wait();
    },
    stop: () => {
      earliest = -Infinity;
      cancel();
    },
  };
}
