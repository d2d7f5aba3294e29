import { setTimeout as delay } from "node:timers/promises";
import type { Death, Message, Stop } from "../history.ts";

/** Everything has to be over this long after the last restart, or the last message that was accepted after it. */
export const BOUND_MS = 15_000;

/** What the parts of a run tell each other while it goes on, and what is kept of it. */
export interface Watch {
  readonly messages: Message[];
  readonly stops: Stop[];
  readonly deaths: Death[];
  readonly unfinished: string[];
  /** One line for every request, death and restart, to read when something was wrong. */
  readonly timeline: { readonly at: number; readonly what: string }[];
  note(what: string): void;
  /** Something was seen, at which a process may be killed. */
  see(what: string): void;
  onSee(listener: (what: string) => void): () => void;
  /** A member is being started, or has come up, died or failed: as long as one is away, everybody has time. */
  moved(member: string, to: "away" | "up" | "broken"): void;
  /** When the last restart was over. */
  readonly restartedAt: number;
  /** Polls until `find` finds something. Gives up {@link BOUND_MS} after all members were up, and after the call. */
  patiently<T>(what: string, find: () => T | undefined | Promise<T | undefined>): Promise<T>;
}

export function createWatch(): Watch {
  const listeners = new Set<(what: string) => void>();
  const timeline: { at: number; what: string }[] = [];
  const places = new Map<string, "away" | "up" | "broken">();
  let restartedAt = Date.now();
  return {
    messages: [],
    stops: [],
    deaths: [],
    unfinished: [],
    timeline,
    note: (what) => void timeline.push({ at: Date.now(), what }),
    see: (what) => {
      for (const listener of listeners) listener(what);
    },
    onSee: (listener) => {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    moved: (member, to) => {
      places.set(member, to);
      restartedAt = Date.now();
    },
    get restartedAt() {
      return restartedAt;
    },
    patiently: async (what, find) => {
      const askedAt = Date.now();
      for (;;) {
        const found = await find();
        if (found !== undefined) return found;
        const isAway = [...places.values()].includes("away");
        if (!isAway && Date.now() > Math.max(askedAt, restartedAt) + BOUND_MS)
          throw new Error(`${what}: not in ${BOUND_MS} ms`);
        await delay(5);
      }
    },
  };
}
