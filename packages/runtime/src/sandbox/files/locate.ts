import { lstatSync } from "node:fs";
import { join, posix } from "node:path";

/** Where the files of a sandbox are, in its own view and on this machine. */
export const ROOTS = ["workspace", "tmp"] as const;
export const WORKSPACE = "/workspace";

export interface Located {
  /** Absolute, as the sandbox sees it. */
  readonly path: string;
  /** On this machine. */
  readonly host: string;
  /** `/workspace` or `/tmp` itself. */
  readonly isRoot: boolean;
}

/**
 * The place on this machine of a path in a sandbox. Never one outside of `root`: `..` is resolved before it is looked
 * for, and a symbolic link on the way is refused, whoever made it.
 *
 * @throws an error with `code` as of a system call.
 */
export function locate(root: string, given: string): Located {
  const path = posix.resolve(WORKSPACE, given);
  const segments = path.split("/").slice(1);
  if (given.includes("\0")) throw fileError("EINVAL", path);
  if (!ROOTS.some((name) => name === segments[0])) throw fileError("EACCES", path);
  let host = root;
  for (const segment of segments) {
    host = join(host, segment);
    if (lstatSync(host, { throwIfNoEntry: false })?.isSymbolicLink()) throw fileError("ELOOP", path);
  }
  return { path, host, isRoot: segments.length === 1 };
}

const REASONS: Readonly<Record<string, string>> = {
  EACCES: "permission denied: outside of /workspace and /tmp",
  EBUSY: "resource busy: it is needed",
  EDQUOT: "disk quota of the sandbox exceeded",
  EEXIST: "file already exists",
  EINVAL: "invalid argument",
  EISDIR: "illegal operation on a directory",
  ELOOP: "symbolic links are not followed",
  ENAMETOOLONG: "name too long",
  ENOENT: "no such file or directory",
  ENOTDIR: "not a directory",
  ENOTEMPTY: "directory not empty",
  EPERM: "operation not permitted: the sandbox has no links",
};

/** An error as of a system call, which names the path as the sandbox sees it. */
export function fileError(code: string, path: string): NodeJS.ErrnoException {
  return Object.assign(new Error(`${code}: ${REASONS[code] ?? "input/output error"}, '${path}'`), { code, path });
}

/** The same failure without the path on this machine. */
export function toFileError(error: unknown, path: string): NodeJS.ErrnoException {
  const code = (error as NodeJS.ErrnoException | null)?.code;
  return fileError(typeof code === "string" ? code : "EIO", path);
}
