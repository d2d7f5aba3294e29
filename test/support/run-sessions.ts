import { execFile } from "node:child_process";
import { join } from "node:path";
import { ROOT } from "./build-workspace.ts";
import type { Env } from "./member.ts";

export interface CommandRun {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

const EVE = join(ROOT, "packages/runtime/bin/eve.mjs");
const PATIENCE_MS = 60_000;

/** Runs `eve sessions …` in a folder, where nobody sits at a terminal. */
export function runSessions(cwd: string, args: readonly string[], env: Env = {}): Promise<CommandRun> {
  return new Promise((resolve) => {
    const child = execFile(
      process.execPath,
      [EVE, "sessions", ...args],
      { cwd, env: { PATH: process.env.PATH, ...env }, timeout: PATIENCE_MS, maxBuffer: 64 * 1024 * 1024 },
      (error, stdout, stderr) => resolve({ code: error ? Number(error.code) : 0, stdout, stderr }),
    );
    child.stdin!.end();
  });
}
