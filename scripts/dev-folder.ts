import {
  copyFileSync,
  statSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Config } from "./dev-config.ts";

export interface DevFolder {
  /** Where the CLI runs. */
  readonly path: string;
  /** Writes the configuration, and links what is new in the workspace. */
  write(config: Config): void;
  remove(): void;
}

/** What the CLI must not see: the configuration that it would evaluate, and state that belongs to the workspace. */
const LEFT_OUT = /^(?:vercel\.(?:json|[mc]?[jt]s)|now\.json|\.vercel|\.git|\.eve|\.turbo)$/;

/**
 * A folder outside the workspace with a compiled `vercel.json` and links to everything else: `vercel dev` evaluates
 * `vercel.ts` for every request, which takes ten times as long as reading a file.
 */
export function createDevFolder(root: string, port: number): DevFolder {
  const path = mkdtempSync(join(tmpdir(), "eve-dev-"));
  const record: Running = { pid: process.pid, port, folder: path };
  mkdirSync(join(root, ".eve"), { recursive: true });
  writeFileSync(recordOf(root), JSON.stringify(record));
  return {
    path,
    write: (config) => {
      for (const entry of readdirSync(root)) {
        if (!LEFT_OUT.test(entry) && !existsSync(join(path, entry))) link(join(root, entry), join(path, entry));
      }
      // A request must not read half a file.
      writeFileSync(join(path, "vercel.json.new"), `${JSON.stringify(config, null, 2)}\n`);
      renameSync(join(path, "vercel.json.new"), join(path, "vercel.json"));
    },
    remove: () => {
      rmSync(path, { recursive: true, force: true, maxRetries: 3 });
      rmSync(recordOf(root), { force: true });
    },
  };
}

/** A `pnpm dev` of a workspace. */
export interface Running {
  readonly pid: number;
  readonly port: number;
  readonly folder: string;
}

/** The `pnpm dev` that runs in this workspace. Removes what one left that was killed. */
export function findRunning(root: string): Running | undefined {
  let running: Running;
  try {
    running = JSON.parse(readFileSync(recordOf(root), "utf8")) as Running;
  } catch {
    return undefined;
  }
  if (isAlive(running.pid)) return running;
  // Only what this program has made itself, whatever the file says.
  if (running.folder.startsWith(join(tmpdir(), "eve-dev-"))) rmSync(running.folder, { recursive: true, force: true });
  rmSync(recordOf(root), { force: true });
  return undefined;
}

export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}

function recordOf(root: string): string {
  return join(root, ".eve/dev.json");
}

function link(target: string, path: string): void {
  // Windows links folders without special rights, as junctions, but not files.
  if (process.platform === "win32" && !statSync(target).isDirectory()) copyFileSync(target, path);
  else symlinkSync(target, path, process.platform === "win32" ? "junction" : undefined);
}
