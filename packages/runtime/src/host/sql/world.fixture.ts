import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { monotonicFactory } from "ulid";
import type { Host } from "../../engine/ports.ts";
import { SURROUNDINGS, type World } from "../conformance/world.fixture.ts";
import type { Schedule } from "./alarm.ts";
import { createSqlHost } from "./host.ts";
import { openSqliteStore } from "./sqlite.ts";
import type { Store } from "./store.ts";

/** An SQLite file in a folder of its own, and a clock that stands still until it is told to go on. */
export interface SqliteWorld extends World {
  readonly file: string;
  /** Alarms that are set. */
  alarms(): number;
  /** What hosts said went wrong. */
  readonly errors: unknown[];
}

interface Alarm {
  readonly host: object;
  readonly at: number;
  readonly ring: () => void;
}

export function createSqliteWorld(openStore: (file: string) => Store = openSqliteStore): SqliteWorld {
  const folder = mkdtempSync(join(tmpdir(), "eve-host-"));
  const file = join(folder, "store.db");
  const ulid = monotonicFactory();
  const errors: unknown[] = [];
  const kills = new Map<Host, () => void>();
  let now = Date.UTC(2026, 10, 30);
  let alarms: Alarm[] = [];

  return {
    file,
    errors,
    alarms: () => alarms.length,
    now: () => now,
    pass: async (ms) => {
      now += ms;
      const due = alarms.filter(({ at }) => at <= now);
      alarms = alarms.filter((alarm) => !due.includes(alarm));
      for (const { ring } of due) ring();
    },
    open: async (perform, { fault, sessionTimeoutMs, retentionMs } = {}) => {
      const self = {};
      const schedule: Schedule = (ms, ring) => {
        if (ms === 0) {
          const soon = setImmediate(ring);
          return () => clearImmediate(soon);
        }
        const alarm = { host: self, at: now + ms, ring };
        alarms.push(alarm);
        return () => void (alarms = alarms.filter((other) => other !== alarm));
      };
      const { store, kill } = mortal(openStore(file));
      const host = createSqlHost({
        store,
        perform,
        surroundings: ({ sessionId }) => ({
          ...SURROUNDINGS,
          sessionId,
          newSessionId: () => `ses_${ulid()}`,
          random: (length) => ulid().toLowerCase().slice(-length),
          ...(sessionTimeoutMs === undefined ? {} : { sessionTimeoutMs }),
        }),
        newSessionId: () => `ses_${ulid()}`,
        newEventId: () => `evt_${ulid()}`,
        now: () => now,
        schedule,
        onError: (error) => errors.push(error),
        retryMs: 10,
        ...(fault === undefined ? {} : { fault }),
        ...(retentionMs === undefined ? {} : { retentionMs }),
      });
      kills.set(host, () => {
        kill();
        alarms = alarms.filter(({ host: of }) => of !== self);
      });
      await host.start();
      return host;
    },
    crash: async (host) => kills.get(host)!(),
    dispose: async () => rmSync(folder, { recursive: true, force: true }),
  };
}

/** A store that answers nobody any more once its process was killed. */
function mortal(store: Store): { readonly store: Store; readonly kill: () => void } {
  let dead = false;
  const methods = Object.entries(store).map(([name, method]) => [
    name,
    (...args: never[]) => (dead ? new Promise(() => {}) : (method as (...given: never[]) => unknown)(...args)),
  ]);
  return {
    store: Object.fromEntries(methods) as Store,
    kill: () => {
      dead = true;
      void store.close();
    },
  };
}
