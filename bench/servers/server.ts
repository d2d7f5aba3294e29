import { cpSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { isHealthy } from "../client.ts";
import { freePort, run, until, type Program, type Running } from "../processes.ts";

const BOOT_MS = 30_000;

/** One of the three things that are measured: ours, eve, or the floor below both. */
export interface Side {
  readonly name: "ours" | "eve" | "floor";
  /** Starts the built agent in production mode, on a store of its own. */
  start(options?: StartOptions): Promise<Server>;
  /** Builds it from nothing; milliseconds. */
  build?(): Promise<number>;
  /** Removes what it has put on the disk. */
  dispose(): void;
}

export interface StartOptions {
  /** The peer that `bench:peer…` calls. */
  readonly peer?: Server;
  /** Start on the store of an earlier server, which has stopped. */
  readonly store?: string;
  readonly env?: Readonly<Record<string, string>>;
}

export interface Server {
  /** `<origin>/eve/v1` */
  readonly api: string;
  readonly origin: string;
  readonly process: Running;
  /** Folder that holds all it has stored. */
  readonly store: string;
  /** Milliseconds from the start of the process to the first 200 of `health`. */
  readonly bootMs: number;
  stop(): Promise<void>;
}

/** Starts a program that listens on a port, and waits until it is healthy. */
export async function serve(name: string, store: string, toProgram: (port: number) => Program): Promise<Server> {
  const port = await freePort();
  const origin = `http://127.0.0.1:${port}`;
  const api = `${origin}/eve/v1`;
  const begun = performance.now();
  const process = run(toProgram(port));
  const stop = (): Promise<void> => process.stop();
  try {
    await until(`${name} is healthy`, async () => process.ended() || (await isHealthy(api)), BOOT_MS);
    if (process.ended()) throw new Error(`${name} ended with ${await process.exit}:\n${process.output()}`);
  } catch (error) {
    await stop();
    throw error;
  }
  return { api, origin, process, store, bootMs: performance.now() - begun, stop };
}

/** Copies the authored files that both runtimes build. */
export function copyFixture(target: string): void {
  mkdirSync(target, { recursive: true });
  cpSync(join(import.meta.dirname, "../fixtures/agent"), join(target, "agent"), { recursive: true });
}
