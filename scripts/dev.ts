/**
 * `pnpm dev [--listen host:port] [--json]`: the real `vercel dev --local`, on a compiled copy of `vercel.ts`, and the
 * addresses of all members once they answer. A program of its own because the CLI refuses a `dev` script that calls it
 * directly, and takes another port than the one asked for without a question.
 */
import { join } from "node:path";
import { watchFiles } from "../packages/runtime/src/cli/dev/watch-files.ts";
import { watchLauncher } from "../packages/runtime/src/cli/watch-launcher.ts";
import {
  compareConfigs,
  describeChange,
  evaluateConfig,
  membersOf,
  type Config,
  type Evaluated,
} from "./dev-config.ts";
import { createDevFolder, type DevFolder } from "./dev-folder.ts";
import { checkCanListen, parseListen, type Listen } from "./dev-listen.ts";
import { printMembers, whenAnswering } from "./dev-members.ts";
import { startVercel, type Vercel } from "./dev-vercel.ts";

const ROOT = join(import.meta.dirname, "..");

try {
  process.exitCode = await main(process.argv.slice(2));
} catch (error) {
  process.stderr.write(toText(error as Failure));
  process.exitCode = 1;
}

async function main(args: readonly string[]): Promise<number> {
  const { listen, json } = parseListen(args);
  await checkCanListen(ROOT, listen);
  const stopped = whenAskedToStop();
  const evaluated = await evaluateConfig(ROOT);
  if ("error" in evaluated) throw evaluated.error;
  const folder = createDevFolder(ROOT, listen.port);
  try {
    return await run(evaluated.config, folder, listen, json, stopped);
  } finally {
    folder.remove();
  }
}

/** Runs the CLI, again whenever it has other services to start, until it ends or `stopped`. */
async function run(
  first: Config,
  folder: DevFolder,
  listen: Listen,
  json: boolean,
  stopped: AbortSignal,
): Promise<number> {
  let config = first;
  let restart = new AbortController();
  const follow = async (): Promise<void> => {
    const next = await evaluateConfig(ROOT);
    if ("error" in next) return void process.stderr.write(`${toText(next.error)}The old configuration stays.\n`);
    const change = compareConfigs(config, next.config);
    if (change === "same") return;
    const what = describeChange(config, next.config);
    config = next.config;
    folder.write(config);
    if (change === "reread") return void process.stderr.write("vercel.ts changed: its routes are in use.\n");
    process.stderr.write(`${what}: vercel dev starts again. Sessions go on.\n`);
    restart.abort();
  };
  folder.write(config);
  const unwatch = watchConfig(follow);
  try {
    for (;;) {
      restart = new AbortController();
      const vercel = startVercel(folder.path, ROOT, listen, json);
      const end = await untilEnd(vercel, AbortSignal.any([stopped, restart.signal]), config, listen, json);
      if (stopped.aborted) return 0;
      if (!restart.signal.aborted) return end ?? 1;
    }
  } finally {
    unwatch();
  }
}

/** Prints the members once they answer, and resolves when the CLI has ended. */
async function untilEnd(
  vercel: Vercel,
  stop: AbortSignal,
  config: Config,
  listen: Listen,
  json: boolean,
): Promise<number | null> {
  const ended = new AbortController();
  void vercel.exit.then(() => ended.abort());
  const over = AbortSignal.any([stop, ended.signal]);
  void whenAnswering(membersOf(config), listen.origin, over).then((answers) => {
    if (!over.aborted) printMembers(answers, listen.origin, json);
  });
  if (stop.aborted) await vercel.stop();
  else stop.addEventListener("abort", () => void vercel.stop(), { once: true });
  return vercel.exit;
}

/** Calls `follow` after changes of `vercel.ts`, of the set of members and of what may declare a peer. */
function watchConfig(follow: () => Promise<void>): () => void {
  let following = Promise.resolve();
  // `withEve` reads subagents only; a change anywhere else in a member costs nothing here.
  const isRead = (path: string): boolean => !path.includes("/agent/") || path.includes("/subagents/");
  return watchFiles(
    [join(ROOT, "vercel.ts"), join(ROOT, "agents")],
    () => (following = following.then(follow, follow)),
    isRead,
  );
}

function whenAskedToStop(): AbortSignal {
  const stop = new AbortController();
  const end = (): void => stop.abort();
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, end);
  watchLauncher(end);
  return stop.signal;
}

type Failure = Extract<Evaluated, { error: unknown }>["error"];

function toText({ code, message, fix }: Failure): string {
  return [`${code ? `${code} ` : ""}${message}`, ...(fix ? [fix] : []), ""].join("\n");
}
