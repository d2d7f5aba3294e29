import { lstatSync, readdirSync, statSync } from "node:fs";
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
    .filter((entry) => !entry.folder || holdsAnything(entry.path));
}

/** Follows no links: they may lead back here. */
function holdsAnything(folder: string): boolean {
  return list(folder).some((name) => {
    if (IGNORED.test(name)) return false;
    const path = join(folder, name);
    return !lstatSync(path, { throwIfNoEntry: false })?.isDirectory() || holdsAnything(path);
  });
}

export function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
}

function list(folder: string): string[] {
  return isFolder(folder) ? readdirSync(folder) : [];
}
