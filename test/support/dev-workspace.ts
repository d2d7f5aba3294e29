import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { cpSync, existsSync, mkdirSync, readdirSync, symlinkSync } from "node:fs";
import { basename, join } from "node:path";
import { createInterface } from "node:readline";
import { ROOT } from "./build-workspace.ts";
import { tempFolder } from "./temp-folder.ts";

const FILES = ["package.json", "pnpm-workspace.yaml", "tsconfig.base.json", "vercel.ts", "scripts"];
const LINKS = ["packages", "node_modules"];
const LEFT_OUT = new Set(["node_modules", ".eve", ".turbo"]);

/**
 * A copy of this workspace, as a fresh clone has it after the installation: nothing built, nothing running. A copy
 * because the platform's CLI runs once per folder, and somebody may be working in this one.
 */
export function copyWorkspace(): Disposable & { readonly root: string } {
  const folder = tempFolder();
  const root = folder.path;
  for (const file of FILES) cpSync(join(ROOT, file), join(root, file), { recursive: true });
  for (const link of LINKS) symlinkSync(join(ROOT, link), join(root, link));
  mkdirSync(join(root, "agents"));
  for (const member of readdirSync(join(ROOT, "agents"))) {
    const source = join(ROOT, "agents", member);
    if (!existsSync(join(source, "agent"))) continue;
    cpSync(source, join(root, "agents", member), { recursive: true, filter: (path) => !LEFT_OUT.has(basename(path)) });
    symlinkSync(join(source, "node_modules"), join(root, "agents", member, "node_modules"));
  }
  return { root, [Symbol.dispose]: () => folder[Symbol.dispose]() };
}

export interface DevProcess {
  readonly child: ChildProcess;
  /** The JSON it prints once all members answer; rejects when it ends before. */
  readonly ready: Promise<{ origin: string; members: { name: string; url: string; status: string }[] }>;
  /** What it wrote besides that. */
  readonly log: string;
  /** Its exit code, or the signal that ended it. */
  readonly exit: Promise<number | NodeJS.Signals>;
}

/** What `pnpm dev --json` runs, without a key, an account or the settings of whoever runs the tests. */
export function startDev(root: string, listen: string, env: NodeJS.ProcessEnv = {}): DevProcess {
  const child = spawn(process.execPath, ["scripts/dev.ts", "--json", "--listen", listen], {
    cwd: root,
    env: { PATH: process.env.PATH, HOME: root, ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let log = "";
  child.stderr!.setEncoding("utf8").on("data", (text: string) => (log += text));
  const exit = once(child, "exit").then(([code, signal]) => (code ?? signal) as number | NodeJS.Signals);
  const line = once(createInterface(child.stdout!), "line").then(([text]) => JSON.parse(text as string));
  const ready = Promise.race([
    line,
    exit.then((how) => Promise.reject(new Error(`pnpm dev ended with ${how}:\n${log}`))),
  ]);
  ready.catch(() => {});
  return {
    child,
    ready,
    exit,
    get log() {
      return log;
    },
  };
}
