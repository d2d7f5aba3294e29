import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { ROOT } from "./build-workspace.ts";
import { freePort } from "./free-port.ts";

export interface VercelDev extends AsyncDisposable {
  readonly child: ChildProcess;
  readonly origin: string;
  readonly log: string;
  /** Its exit code, or the signal that ended it. */
  readonly exit: Promise<number | NodeJS.Signals>;
}

/**
 * `vercel dev --local` as a person runs it in a workspace, after the installation, without a key, an account or the
 * settings of whoever runs the tests. Nothing of it outlives this process.
 */
export async function startVercelDev(root: string): Promise<VercelDev> {
  const listen = `127.0.0.1:${await freePort()}`;
  const cli = join(dirname(createRequire(join(ROOT, "package.json")).resolve("vercel/package.json")), "dist/vc.js");
  const preload = pathToFileURL(join(ROOT, "packages/runtime/src/cli/exit-with-parent.ts")).href;
  const child = spawn(process.execPath, ["--import", preload, cli, "dev", "--local", "--listen", listen], {
    cwd: root,
    env: {
      PATH: process.env.PATH,
      HOME: root,
      VERCEL_TELEMETRY_DISABLED: "1",
      NO_UPDATE_NOTIFIER: "1",
      // Else it installs for every service, in folders that the copy shares with the workspace.
      VERCEL_INSTALL_COMPLETED: "1",
      VERCEL_CLI_USE_NATIVE_BINARY: "0",
    },
    stdio: ["ignore", "pipe", "pipe", "ipc"],
  });
  let log = "";
  for (const output of [child.stdout!, child.stderr!]) {
    output.setEncoding("utf8").on("data", (text: string) => (log += text));
  }
  const exit = once(child, "exit").then(([code, signal]) => (code ?? signal) as number | NodeJS.Signals);
  return {
    child,
    origin: `http://${listen}`,
    exit,
    get log() {
      return log;
    },
    [Symbol.asyncDispose]: async () => {
      if (child.exitCode === null) child.kill("SIGTERM");
      await exit;
    },
  };
}
