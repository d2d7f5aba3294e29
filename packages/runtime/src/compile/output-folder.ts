import { mkdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

/** Writes files below `folder`, which is created. */
export function writeFiles(folder: string, files: ReadonlyMap<string, Uint8Array | string>): void {
  for (const [name, content] of files) {
    const path = join(folder, name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, content);
  }
}

/**
 * Puts a finished folder in the place of `target`. Both must be on one file system. A reader sees the old build, for
 * a moment none, or the new one, but never a mixture.
 */
export function replaceFolder(target: string, finished: string): void {
  const previous = `${finished}.previous`;
  const existed = moved(target, previous);
  try {
    renameSync(finished, target);
  } catch (error) {
    if (existed) renameSync(previous, target);
    throw error;
  }
  rmSync(previous, { recursive: true, force: true });
}

function moved(from: string, to: string): boolean {
  try {
    renameSync(from, to);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return false;
    throw error;
  }
}
