import { afterEach } from "vitest";
import type { Surroundings } from "../../engine/input.ts";
import type { FaultPoint, Host, Perform } from "../../engine/ports.ts";

/**
 * One durable storage, with the clock that its hosts go by. Every host runs the conformance suite as it is: what it
 * stores in, and how, only its world knows.
 */
export interface World {
  /** Starts a host on the storage. Several may be open at a time. */
  open(perform: Perform, options?: WorldOptions): Promise<Host>;
  /** Ends a host as `kill -9` does: it writes nothing more, and nobody asks it to stop. */
  crash(host: Host): Promise<void>;
  /** Milliseconds since the epoch, as all hosts of this world see them. */
  now(): number;
  /** Lets time pass; timers that are due by then have rung when it resolves. */
  pass(ms: number): Promise<void>;
  dispose(): Promise<void>;
}

export interface WorldOptions {
  /** Called at every fault point; what it throws happens there. */
  readonly fault?: (point: FaultPoint) => void;
  readonly sessionTimeoutMs?: number;
  /** How long what has ended can be read; default: for ever. */
  readonly retentionMs?: number;
}

/** Worlds and hosts for one test after the other; what is left open is closed. */
export interface Suite {
  newWorld(): Promise<World>;
  open(world: World, perform: Perform, options?: WorldOptions): Promise<Host>;
  crash(world: World, host: Host): Promise<void>;
  close(host: Host, graceMs?: number): Promise<void>;
}

export const SURROUNDINGS: Omit<Surroundings, "sessionId" | "now" | "newSessionId" | "random"> = {
  modelId: "test/model",
  eveVersion: "0.0.0",
  base: "/eve/test/v1",
};

export function createSuite(createWorld: () => Promise<World>): Suite {
  const worlds: World[] = [];
  const hosts: Host[] = [];
  const forget = (host: Host): void => void hosts.splice(hosts.indexOf(host), 1);
  afterEach(async () => {
    await Promise.all(hosts.splice(0).map((host) => host.close()));
    await Promise.all(worlds.splice(0).map((world) => world.dispose()));
  });
  return {
    newWorld: async () => {
      const world = await createWorld();
      worlds.push(world);
      return world;
    },
    open: async (world, perform, options) => {
      const host = await world.open(perform, options);
      hosts.push(host);
      return host;
    },
    crash: async (world, host) => {
      forget(host);
      await world.crash(host);
    },
    close: async (host, graceMs) => {
      forget(host);
      await host.close(graceMs);
    },
  };
}
