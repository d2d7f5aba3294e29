import { readdirSync, statSync, watch, type Dirent, type FSWatcher } from "node:fs";
import { basename, dirname, join } from "node:path";

/** Events of one save arrive in a burst. */
const SETTLE_MS = 60;
const IGNORED = /^(?:node_modules|\..*|.*~|.*\.test\.ts)$/;

/**
 * Calls `onChange` once after files were added, removed or written: those below the folders in `paths`, and the files
 * in it (of a `node_modules` in it, only what is installed). Looks at no dot files, tests and `node_modules` below a folder; an event that changed no file (an editor's
 * temporary file) is none.
 *
 * @param onChange Gets the time of the first event, as `performance.now()` tells it.
 * @param isRead Leaves out files of a folder.
 * @returns stops watching.
 */
export function watchFiles(
  paths: readonly string[],
  onChange: (since: number) => void,
  isRead: (path: string) => boolean = () => true,
): () => void {
  const watchers = new Map<string, FSWatcher>();
  let timer: NodeJS.Timeout | undefined;
  let since: number | undefined;
  let known = scan();

  function scan(): string {
    const folderPaths = new Set<string>();
    const files: string[] = [];
    for (const path of paths) {
      const isFolder = statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
      if (isFolder && basename(path) !== "node_modules") {
        walk(path, folderPaths, files, isRead);
      } else {
        // A file that is replaced is another one: its folder is what stays.
        folderPaths.add(isFolder ? path : dirname(path));
        files.push(`${path} ${stamp(path)}`);
      }
    }
    for (const [path, watcher] of watchers) {
      if (folderPaths.has(path)) continue;
      watcher.close();
      watchers.delete(path);
    }
    const added = [...folderPaths].filter((path) => !watchers.has(path) && watchFolder(path));
    // A file may have been written between the walk and the start of the watch.
    return added.length > 0 ? scan() : files.sort().join("\n");
  }

  function watchFolder(path: string): boolean {
    try {
      const watcher = watch(path, { persistent: false }, settle);
      watcher.on("error", settle);
      watchers.set(path, watcher);
      return true;
    } catch {
      // Removed since the walk: the event of its parent brings the next scan.
      return false;
    }
  }

  function settle(): void {
    since ??= performance.now();
    clearTimeout(timer);
    timer = setTimeout(() => {
      const first = since!;
      since = undefined;
      const now = scan();
      if (now === known) return;
      known = now;
      onChange(first);
    }, SETTLE_MS);
  }

  return () => {
    clearTimeout(timer);
    for (const watcher of watchers.values()) watcher.close();
    watchers.clear();
  };
}

function walk(folder: string, folders: Set<string>, files: string[], isRead: (path: string) => boolean): void {
  let entries: Dirent[];
  try {
    entries = readdirSync(folder, { withFileTypes: true });
  } catch {
    return;
  }
  folders.add(folder);
  for (const entry of entries) {
    if (IGNORED.test(basename(entry.name))) continue;
    const path = join(folder, entry.name);
    if (entry.isDirectory()) walk(path, folders, files, isRead);
    else if (entry.isFile() && isRead(path)) files.push(`${path} ${stamp(path)}`);
  }
}

function stamp(path: string): string {
  const stats = statSync(path, { throwIfNoEntry: false });
  return stats ? `${stats.mtimeMs} ${stats.size} ${stats.ino}` : "";
}
