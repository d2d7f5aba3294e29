import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";

export interface Entry {
  readonly name: string;
  readonly path: string;
  readonly folder: boolean;
}

const IGNORED = /^\.|\.(?:test|spec)\./;

/**
 * Entries of a folder in a fixed order, without the ones that never define anything: dot files, test files
 * (contract §3) and folders that hold nothing else, such as the ones Git leaves behind when it removes files.
 * Empty for a folder that does not exist.
 */
export function readFolder(folder: string): Entry[] {
  return list(folder)
    .filter((name) => !IGNORED.test(name))
    .sort()
    .map((name) => ({ name, path: join(folder, name), folder: isFolder(join(folder, name)) }))
    .filter((entry) => !entry.folder || holdsSomething(entry.path));
}

/** Stops at the first: a folder of packages is large. */
function holdsSomething(folder: string): boolean {
  return list(folder).some((name) => {
    const path = join(folder, name);
    return !IGNORED.test(name) && (!isFolder(path) || holdsSomething(path));
  });
}

export function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
}

function list(folder: string): string[] {
  return isFolder(folder) ? readdirSync(folder) : [];
}
