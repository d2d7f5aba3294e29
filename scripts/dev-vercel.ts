import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { createRequire } from "node:module";
import { delimiter, dirname, join } from "node:path";
import { createInterface } from "node:readline";
import type { Listen } from "./dev-listen.ts";
import { createNoiseFilter } from "./dev-noise.ts";

/** Longer than the CLI takes to stop services that do not stop by themselves. */
const GRACE_MS = 12_000;

export interface Vercel {
  /** Its exit code. */
  readonly exit: Promise<number | null>;
  /** Asks it to end, which stops the members, and insists when that takes too long. */
  stop(): Promise<void>;
}

/** Starts `vercel dev --local` in a folder. */
export function startVercel(folder: string, root: string, { host, port, origin }: Listen, json: boolean): Vercel {
  const cli = join(dirname(createRequire(import.meta.url).resolve("vercel/package.json")), "dist/vc.js");
  const preload = import.meta.resolve("../packages/runtime/src/cli/exit-with-parent.ts");
  const args = ["--import", preload, cli, "dev", "--local", "--listen", `${host}:${port}`];
  const child: ChildProcess = spawn(process.execPath, args, {
    cwd: folder,
    // A group of its own: Ctrl-C reaches only this process, which then stops the CLI in order.
    detached: true,
    // The channel ends the CLI, and with it the members, when this process is killed.
    stdio: ["ignore", json ? process.stderr : "inherit", "pipe", "ipc"],
    env: {
      ...process.env,
      // A member that is not installed yet finds the workspace's own `eve`, which says what is missing.
      PATH: `${process.env.PATH ?? ""}${delimiter}${join(root, "node_modules/.bin")}`,
      // The CLI names its address to the members, but not in a workspace with a `.env`.
      EVE_ORIGIN: process.env.EVE_ORIGIN ?? origin,
      VERCEL_TELEMETRY_DISABLED: "1",
      // Nobody updates a pinned tool, and offline the question alone is an error.
      NO_UPDATE_NOTIFIER: "1",
      // Its messages pass through this process.
      ...(process.stderr.isTTY && process.env.NO_COLOR === undefined
        ? { FORCE_COLOR: process.env.FORCE_COLOR ?? "1" }
        : {}),
      // pnpm has installed; the CLI would do it again at every start.
      VERCEL_INSTALL_COMPLETED: "1",
      // The CLI's native build starts a process of its own that gets no signals.
      VERCEL_CLI_USE_NATIVE_BINARY: "0",
    },
  });
  const says = createNoiseFilter();
  createInterface(child.stderr!).on("line", (line) => says(line) && process.stderr.write(`${line}\n`));
  const exit = once(child, "exit").then(([code]) => code as number | null);
  return {
    exit,
    stop: async () => {
      child.kill("SIGTERM");
      const timer = setTimeout(() => child.kill("SIGKILL"), GRACE_MS);
      await exit;
      clearTimeout(timer);
    },
  };
}
