import { randomUUID } from "node:crypto";
import { constants } from "node:fs";
import { appendFile, chmod, lstat, mkdir, open, readdir, rename, rm, unlink, utimes } from "node:fs/promises";
import type { Stats } from "node:fs";
import { dirname, join } from "node:path";
import { fileError, locate, ROOTS, toFileError, type Located } from "./locate.ts";

export interface TreeLimits {
  /** Of all files together. */
  readonly bytes: number;
  /** Files and folders. */
  readonly entries: number;
}

export const TREE_LIMITS: TreeLimits = { bytes: 128 * 1024 * 1024, entries: 20_000 };

export interface TreeStat {
  readonly type: "file" | "folder";
  readonly size: number;
  readonly mode: number;
  readonly mtime: Date;
}

export interface WriteFileOptions {
  /** Permissions; default those it has, else 0o644. */
  readonly mode?: number;
  /** Create the folders above it. */
  readonly parents?: boolean;
}

/** The files of one sandbox. Everything rejects as system calls do, with paths as the sandbox sees them. */
export interface Tree {
  read(path: string): Promise<Buffer>;
  /** Replaces the file in one step: whoever reads it, and whatever dies meanwhile, sees the old or the new one whole. */
  write(path: string, content: Uint8Array, options?: WriteFileOptions): Promise<void>;
  append(path: string, content: Uint8Array): Promise<void>;
  stat(path: string): Promise<TreeStat>;
  list(path: string): Promise<string[]>;
  makeFolder(path: string, parents: boolean): Promise<void>;
  /** Removes a file or a folder; one that is not empty only with `recursive`. */
  remove(path: string, recursive: boolean): Promise<void>;
  move(from: string, to: string): Promise<void>;
  setMode(path: string, mode: number): Promise<void>;
  setTime(path: string, mtime: Date): Promise<void>;
}

/**
 * The files below `root`, which is on this machine: plain files and folders, and nothing else. `drafts` is a folder on
 * the same file system for what is not whole yet.
 */
export function createTree(root: string, drafts: string, limits: TreeLimits = TREE_LIMITS): Tree {
  // Measured before the first write. What others write to the same files at the same time is not counted.
  let usage: Promise<{ bytes: number; entries: number }> | undefined;

  /** Runs `work` on the place of a path, and tells what fails as the sandbox would see it. */
  const at = async <T>(path: string, work: (found: Located) => Promise<T>): Promise<T> => {
    const found = locate(root, path);
    try {
      return await work(found);
    } catch (error) {
      throw isOwn(error) ? error : toFileError(error, found.path);
    }
  };
  const grow = async (path: string, bytes: number, entries: number): Promise<void> => {
    const used = await (usage ??= measure(root));
    if (used.bytes + bytes > limits.bytes || used.entries + entries > limits.entries) throw fileError("EDQUOT", path);
    used.bytes += bytes;
    used.entries += entries;
  };
  const makeFolder = (path: string, parents: boolean): Promise<void> =>
    at(path, async ({ host, isRoot, path: full }) => {
      const existing = await lstat(host).catch(() => undefined);
      if (existing?.isDirectory() && (parents || isRoot)) return;
      if (existing !== undefined) throw fileError("EEXIST", full);
      if (parents) await makeFolder(dirname(full), true);
      await grow(full, 0, 1);
      await mkdir(host);
    });

  return {
    makeFolder,
    read: (path) =>
      at(path, async ({ host }) => {
        // Not a pipe or a device, which a shell without isolation may have made: opening one can wait for ever.
        const file = await open(host, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
        try {
          if (!(await file.stat()).isFile()) throw fileError("EISDIR", path);
          return await file.readFile();
        } finally {
          await file.close();
        }
      }),
    write: (path, content, { mode, parents = false } = {}) =>
      at(path, async ({ host, path: full }) => {
        if (parents) await makeFolder(dirname(full), true);
        const existing = await lstat(host).catch(() => undefined);
        if (existing?.isDirectory()) throw fileError("EISDIR", full);
        if (!(await lstat(dirname(host))).isDirectory()) throw fileError("ENOTDIR", full);
        await grow(full, content.length - (existing?.size ?? 0), existing === undefined ? 1 : 0);
        await mkdir(drafts, { recursive: true });
        const draft = join(drafts, randomUUID());
        const file = await open(draft, "wx", toFileMode(mode ?? existing?.mode ?? 0o644));
        try {
          await file.writeFile(content);
        } finally {
          await file.close();
        }
        await rename(draft, host);
      }),
    append: (path, content) =>
      at(path, async ({ host, path: full }) => {
        const existing = await lstat(host).catch(() => undefined);
        if (existing !== undefined && !existing.isFile()) throw fileError("EISDIR", full);
        await grow(full, content.length, existing === undefined ? 1 : 0);
        await appendFile(host, content, { mode: 0o644 });
      }),
    stat: (path) => at(path, async ({ host }) => toStat(await lstat(host))),
    list: (path) => at(path, async ({ host }) => (await readdir(host)).sort()),
    remove: (path, recursive) =>
      at(path, async ({ host, path: full, isRoot }) => {
        if (isRoot) throw fileError("EBUSY", full);
        const isFolder = (await lstat(host)).isDirectory();
        if (isFolder && !recursive && (await readdir(host)).length > 0) throw fileError("ENOTEMPTY", full);
        await (isFolder ? rm(host, { recursive: true }) : unlink(host));
        usage = undefined;
      }),
    move: (from, to) =>
      at(from, async (source) => {
        const target = locate(root, to);
        if (source.isRoot || target.isRoot) throw fileError("EBUSY", source.path);
        await rename(source.host, target.host).catch((error: unknown) => {
          throw toFileError(error, target.path);
        });
        usage = undefined;
      }),
    setMode: (path, mode) =>
      at(path, async ({ host }) => {
        const isFolder = (await lstat(host)).isDirectory();
        // The member itself must always be able to read, replace and delete it.
        await chmod(host, isFolder ? (mode & 0o777) | 0o700 : toFileMode(mode));
      }),
    setTime: (path, mtime) => at(path, ({ host }) => utimes(host, mtime, mtime)),
  };
}

/** Creates the folders that a sandbox begins with. */
export async function makeRoots(root: string): Promise<void> {
  for (const name of ROOTS) await mkdir(join(root, name), { recursive: true });
}

async function measure(folder: string): Promise<{ bytes: number; entries: number }> {
  let bytes = 0;
  let entries = 0;
  for (const entry of await readdir(folder, { withFileTypes: true, recursive: true })) {
    entries++;
    // Gone in the meantime: a command that runs beside this one may remove files.
    if (entry.isFile()) bytes += (await lstat(join(entry.parentPath, entry.name)).catch(() => undefined))?.size ?? 0;
  }
  return { bytes, entries };
}

function toStat(stats: Stats): TreeStat {
  const type = stats.isDirectory() ? "folder" : "file";
  return { type, size: type === "file" ? stats.size : 0, mode: stats.mode & 0o777, mtime: stats.mtime };
}

function toFileMode(mode: number): number {
  return (mode & 0o777) | 0o600;
}

/** Made by {@link fileError}: its path is none of this machine. */
function isOwn(error: unknown): boolean {
  return error instanceof Error && "code" in error && !("syscall" in error);
}
