import { mkdirSync, readdirSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";

export interface BuildFolders {
  /** Where the next build is written. */
  readonly next: string;
  /** Gives the build in `next` a folder of its own, under a new URL: a loaded module can not be loaded again. */
  keep(buildId: string): string;
  /** Removes the builds that were kept before this one: no process uses them any more. */
  removeBefore(folder: string): void;
  /** Removes what this supervisor wrote. */
  remove(): void;
}

/**
 * Folders for the builds of one supervisor, `.eve/dev/<pid>/<build>`: a running process may still import a chunk of any
 * build it has loaded, and another supervisor of the same member must not lose its own. Removes those of supervisors
 * that are gone.
 */
export function createBuildFolders(memberDir: string): BuildFolders {
  const base = join(memberDir, ".eve/dev");
  const own = join(base, String(process.pid));
  mkdirSync(base, { recursive: true });
  for (const entry of readdirSync(base)) if (!isAlive(Number(entry))) removeFolder(join(base, entry));
  removeFolder(own);
  const next = join(own, "next");
  let count = 0;
  return {
    next,
    keep: (buildId) => {
      const folder = join(own, `${buildId}.${++count}`);
      renameSync(next, folder);
      return folder;
    },
    removeBefore: (folder) => {
      for (const entry of readdirSync(own)) if (numberOf(entry) < numberOf(folder)) removeFolder(join(own, entry));
    },
    remove: () => removeFolder(own),
  };
}

/** The position of a kept build; that of a build in the making is none, and before nothing. */
function numberOf(folder: string): number {
  return Number(/\.(\d+)$/.exec(folder)?.[1]);
}

function removeFolder(path: string): void {
  rmSync(path, { recursive: true, force: true, maxRetries: 2 });
}

function isAlive(pid: number): boolean {
  if (!Number.isInteger(pid) || pid < 1) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}
