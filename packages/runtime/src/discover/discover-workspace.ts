import { existsSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { isFolder, readFolder } from "./read-folder.ts";

export interface WorkspaceMember {
  /** Name of the folder under `agents/`. */
  readonly name: string;
  readonly dir: string;
}

export interface Workspace {
  readonly root: string;
  /** Sorted by name. */
  readonly members: readonly WorkspaceMember[];
}

/**
 * Finds the workspace that holds `dir`: the nearest folder above it with a `pnpm-workspace.yaml` and an `agents/`
 * that has at least one member (contract §2.1, §2.3).
 *
 * @returns `undefined` outside a workspace, which is fine for a member without peers.
 */
export function discoverWorkspace(dir: string): Workspace | undefined {
  for (let folder = resolve(dir); ; folder = dirname(folder)) {
    if (existsSync(join(folder, "pnpm-workspace.yaml"))) {
      const members = membersOf(folder);
      if (members.length > 0) return { root: folder, members };
    }
    if (dirname(folder) === folder) return undefined;
  }
}

function membersOf(root: string): WorkspaceMember[] {
  return readFolder(join(root, "agents"))
    .filter((entry) => entry.folder && isFolder(join(entry.path, "agent")))
    .map((entry) => ({ name: entry.name, dir: entry.path }));
}
