import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { dirname, join } from "node:path";
import { ROOT } from "./build-workspace.ts";
import { freePort } from "./free-port.ts";
import type { Env } from "./member.ts";
import { processTree } from "./process-tree.ts";
import { tempFolder } from "./temp-folder.ts";
import { until } from "./until.ts";

/** A workspace of files that a test writes while something runs in it. */
export interface AuthoredWorkspace extends Disposable {
  readonly root: string;
  /** Paths are below the root. */
  write(path: string, text: string): void;
  remove(path: string): void;
}

/** Members are the folders of `agents/` that appear in `files`. */
export function createAuthoredWorkspace(files: Readonly<Record<string, string>>): AuthoredWorkspace {
  const folder = tempFolder();
  const write = (path: string, text: string): void => {
    mkdirSync(dirname(join(folder.path, path)), { recursive: true });
    writeFileSync(join(folder.path, path), text);
  };
  write("pnpm-workspace.yaml", "packages: [agents/*]\n");
  for (const [path, text] of Object.entries(files)) write(path, text);
  for (const member of new Set(Object.keys(files).flatMap((path) => /^agents\/([^/]+)\//.exec(path)?.[1] ?? []))) {
    symlinkSync(join(ROOT, "agents/foreman/node_modules"), join(folder.path, "agents", member, "node_modules"));
    const dependencies = { eve: "workspace:*", zod: "catalog:" };
    write(`agents/${member}/package.json`, JSON.stringify({ name: member, type: "module", dependencies }));
  }
  return {
    root: folder.path,
    write,
    remove: (path) => rmSync(join(folder.path, path)),
    [Symbol.dispose]: () => folder[Symbol.dispose](),
  };
}

/** A member under its development supervisor, or any other command of `eve`. */
export interface EveProcess extends AsyncDisposable {
  readonly child: ChildProcess;
  readonly origin: string;
  /** `<origin>/eve/<name>/v1` */
  readonly api: string;
  readonly log: string;
  readonly exit: Promise<number | NodeJS.Signals>;
  /** The process that serves; another one after a restart. */
  readonly servingPid: number;
  /** Waits until the log, from `from` on, matches. */
  untilLogged(pattern: RegExp, from?: number): Promise<void>;
}

/** Runs `eve <command>` in a member and waits until its port is open, which is long before it can answer. */
export async function runEve(
  workspace: AuthoredWorkspace,
  name: string,
  args: readonly string[],
  env: Env = {},
): Promise<EveProcess> {
  const port = await freePort();
  const origin = `http://127.0.0.1:${port}`;
  const cwd = join(workspace.root, "agents", name);
  const child = spawn(process.execPath, ["node_modules/eve/bin/eve.mjs", ...args, "--port", String(port)], {
    cwd,
    // Not the environment of whoever runs the tests.
    env: { PATH: process.env.PATH, HOME: workspace.root, ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let log = "";
  for (const output of [child.stdout, child.stderr]) {
    output.setEncoding("utf8").on("data", (text: string) => (log += text));
  }
  const exit = once(child, "exit").then(([code, signal]) => (code ?? signal) as number | NodeJS.Signals);
  const member: EveProcess = {
    child,
    origin,
    api: `${origin}/eve/${name}/v1`,
    exit,
    get log() {
      return log;
    },
    get servingPid() {
      return processTree(child.pid!).find(({ command }) => command.includes("serve-dev"))?.pid ?? 0;
    },
    untilLogged: async (pattern, from = 0) => {
      await until(
        `the log matches ${pattern}`,
        () => {
          if (child.exitCode !== null) throw new Error(`eve ${args.join(" ")} ended:\n${log}`);
          return pattern.test(log.slice(from));
        },
        { timeoutMs: 20_000 },
      );
    },
    [Symbol.asyncDispose]: async () => {
      child.kill("SIGTERM");
      await exit;
    },
  };
  await until("the port is open", () => child.exitCode !== null || isOpen(port), { timeoutMs: 20_000 });
  return member;
}

async function isOpen(port: number): Promise<boolean> {
  const socket = connect(port, "127.0.0.1");
  try {
    await once(socket, "connect");
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}
