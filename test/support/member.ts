import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { pathToFileURL } from "node:url";
import { join } from "node:path";
import { ROOT } from "./build-workspace.ts";
import { freePort } from "./free-port.ts";
import { tempFolder } from "./temp-folder.ts";
import { until } from "./until.ts";

export type Env = Readonly<Record<string, string>>;

/** A built member as a process of its own, with a port and a store that outlive the process. */
export interface Member extends AsyncDisposable {
  readonly name: string;
  readonly origin: string;
  /** `<origin>/eve/<name>/v1` */
  readonly api: string;
  /** Folder of the store. */
  readonly store: string;
  readonly pid: number | undefined;
  /** What all its processes so far wrote to stderr. */
  readonly log: string;
  /** Starts a process and waits until it answers, or ends. `env` is for this process only. */
  start(env?: Env, options?: { readonly timeoutMs?: number }): Promise<void>;
  /** Resolves when the process is gone, however it went. */
  gone(): Promise<void>;
  running(): boolean;
  /** SIGTERM, and SIGKILL when that takes too long. */
  stop(): Promise<void>;
  /** `kill -9` */
  kill(): Promise<void>;
}

const START_MS = 15_000;
const STOP_MS = 5_000;

// The process ends with the one that runs the test, even when that is killed.
const EXIT_WITH_PARENT = pathToFileURL(join(ROOT, "packages/runtime/src/cli/exit-with-parent.ts")).href;

/** A member that is not started yet. It speaks to its peers at the addresses in `env`. */
export async function createMember(name: string, server: string, env: Env = {}): Promise<Member> {
  const folder = tempFolder();
  const port = await freePort();
  const origin = `http://127.0.0.1:${port}`;
  const api = `${origin}/eve/${name}/v1`;
  let child: ChildProcess | undefined;
  let log = "";

  const running = (): boolean => child !== undefined && child.exitCode === null && child.signalCode === null;
  const gone = async (): Promise<void> => {
    if (running()) await once(child!, "exit");
  };
  const end = async (signal: NodeJS.Signals): Promise<void> => {
    if (!running()) return;
    const ended = gone();
    child!.kill(signal);
    const insist = setTimeout(() => child!.kill("SIGKILL"), STOP_MS);
    await ended;
    clearTimeout(insist);
  };

  return {
    name,
    origin,
    api,
    store: folder.path,
    get pid() {
      return child?.pid;
    },
    get log() {
      return log;
    },
    start: async (more = {}, { timeoutMs = START_MS } = {}) => {
      const variables = {
        PORT: String(port),
        HOST: "127.0.0.1",
        EVE_STORE: folder.path,
        EVE_DEV: "1",
        ...env,
        ...more,
      };
      child = spawn(process.execPath, ["--enable-source-maps", "--import", EXIT_WITH_PARENT, server], {
        // Not the environment of whoever runs the tests: a key in it would call a real model.
        env: { PATH: process.env.PATH, ...variables },
        stdio: ["ignore", "ignore", "pipe", "ipc"],
      });
      child.stderr!.setEncoding("utf8").on("data", (text: string) => (log += text));
      await until(
        `${name} answers its health check; it wrote: ${log}`,
        async () => !running() || (await isHealthy(api)),
        { timeoutMs },
      );
    },
    gone,
    running,
    stop: () => end("SIGTERM"),
    kill: () => end("SIGKILL"),
    [Symbol.asyncDispose]: async () => {
      await end("SIGKILL");
      folder[Symbol.dispose]();
    },
  };
}

/** The variable by which a member finds a peer. */
export function peerEnv(peer: Member): Env {
  return { [`EVE_PEER_${peer.name.toUpperCase().replaceAll("-", "_")}_URL`]: peer.origin };
}

async function isHealthy(api: string): Promise<boolean> {
  try {
    const response = await fetch(`${api}/health`, { signal: AbortSignal.timeout(2_000) });
    return response.ok;
  } catch {
    return false;
  }
}
