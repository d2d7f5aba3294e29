/**
 * `pnpm dev [--listen host:port] [--json]`: the real `vercel dev --local`, and the addresses of all members once they
 * answer. A program of its own because the CLI refuses a `dev` script that calls it directly, and takes another port
 * than the one asked for without a question.
 */
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { toMemberName } from "eve/vercel";
import { checkCanListen, parseListen, type Listen } from "./dev-listen.ts";
import { watchLauncher } from "./dev-launcher.ts";
import { printMembers, whenAnswering } from "./dev-members.ts";

const ROOT = join(import.meta.dirname, "..");
/** Longer than the CLI takes to stop services that do not stop by themselves. */
const GRACE_MS = 12_000;

try {
  process.exitCode = await main(process.argv.slice(2));
} catch (error) {
  const { code, message, fix } = error as { code?: string; message: string; fix?: string };
  process.stderr.write([`${code ? `${code} ` : ""}${message}`, ...(fix ? [fix] : []), ""].join("\n"));
  process.exitCode = 1;
}

async function main(args: readonly string[]): Promise<number> {
  const { listen, json } = parseListen(args);
  const members = await readMembers();
  await checkCanListen(ROOT, listen);
  const vercel = startVercel(listen, json);
  const exit = once(vercel, "exit");
  const stop = whenAskedToStop(vercel);

  const ended = new AbortController();
  void exit.then(() => ended.abort());
  void whenAnswering(members, listen.origin, ended.signal).then((answers) => {
    if (!ended.signal.aborted && !stop.aborted) printMembers(answers, listen.origin, json);
  });
  const [code] = (await exit) as [number | null];
  return stop.aborted ? 0 : (code ?? 1);
}

/** Evaluates `vercel.ts` as the CLI will, so that a mistake in it is reported once and plainly. */
async function readMembers(): Promise<string[]> {
  const { default: config } = (await import("../vercel.ts")) as {
    default: { services?: Record<string, { root?: string }> };
  };
  return Object.entries(config.services ?? {}).flatMap(([service, { root }]) => {
    const member = toMemberName(service);
    return member !== undefined && root === `agents/${member}` ? [member] : [];
  });
}

function startVercel({ host, port }: Listen, json: boolean): ChildProcess {
  const cli = join(dirname(createRequire(import.meta.url).resolve("vercel/package.json")), "dist/vc.js");
  const preload = import.meta.resolve("../packages/runtime/src/cli/exit-with-parent.ts");
  return spawn(process.execPath, ["--import", preload, cli, "dev", "--local", "--listen", `${host}:${port}`], {
    cwd: ROOT,
    // A group of its own: Ctrl-C reaches only this process, which then stops the CLI in order.
    detached: true,
    // The channel ends the CLI, and with it the members, when this process is killed.
    stdio: ["ignore", json ? process.stderr : "inherit", "inherit", "ipc"],
    env: {
      ...process.env,
      VERCEL_TELEMETRY_DISABLED: "1",
      // pnpm has installed; the CLI would do it again at every start.
      VERCEL_INSTALL_COMPLETED: "1",
      // The CLI's native build starts a process of its own that gets no signals.
      VERCEL_CLI_USE_NATIVE_BINARY: "0",
    },
  });
}

/** Passes the wish on to the CLI, which stops the members, and insists when that takes too long. */
function whenAskedToStop(vercel: ChildProcess): AbortSignal {
  const stop = new AbortController();
  const end = () => {
    if (stop.signal.aborted) return;
    stop.abort();
    vercel.kill("SIGTERM");
    setTimeout(() => vercel.kill("SIGKILL"), GRACE_MS).unref();
  };
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, end);
  watchLauncher(end);
  return stop.signal;
}
