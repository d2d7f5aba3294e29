import { lstatSync, readdirSync } from "node:fs";
import { join } from "node:path";
import type { DiscoveredModule, NodeLocation } from "./discover-node.ts";
import { readFolder, type Entry } from "./read-folder.ts";

/** A file that every new sandbox of a node begins with. */
export interface DiscoveredSeed {
  /** Below `workspace/`, with `/`. */
  readonly path: string;
  /** Where it is. */
  readonly file: string;
  readonly executable: boolean;
}

export interface DiscoveredSandbox {
  readonly module?: DiscoveredModule;
  readonly seed: readonly DiscoveredSeed[];
}

/** Seeds are part of every function and copied into every new sandbox. */
export const SEED_LIMITS: { readonly bytes: number; readonly files: number } = {
  bytes: 10 * 1024 * 1024,
  files: 1_000,
};

/** Reads `sandbox/`: `sandbox.ts` and `workspace/**`, both optional (contract §3). */
export function discoverSandbox(
  folder: Entry,
  at: NodeLocation,
  toModule: (entry: Entry) => DiscoveredModule,
): DiscoveredSandbox {
  let module: DiscoveredModule | undefined;
  let seed: DiscoveredSeed[] = [];
  for (const entry of readFolder(folder.path)) {
    if (entry.folder && entry.name === "workspace") seed = readSeed(entry.path, at);
    else if (!entry.folder && entry.name === "sandbox.ts") module = toModule(entry);
    else {
      const message = `${entry.name} does not belong here: sandbox/ holds sandbox.ts and workspace/.`;
      at.report(
        "SLOT_UNKNOWN",
        entry.path,
        1,
        message,
        "Move it to workspace/, if the sandbox begins with it, or to lib/.",
      );
    }
  }
  return { ...(module && { module }), seed };
}

function readSeed(workspace: string, at: NodeLocation): DiscoveredSeed[] {
  const seed: DiscoveredSeed[] = [];
  let bytes = 0;
  let largest = { path: "", size: 0 };
  const walk = (folder: string, below: string): void => {
    for (const name of readdirSync(folder).sort()) {
      if (name === ".DS_Store") continue;
      const file = join(folder, name);
      const path = below + name;
      const stats = lstatSync(file);
      if (stats.isDirectory()) walk(file, `${path}/`);
      else if (stats.isFile()) {
        seed.push({ path, file, executable: (stats.mode & 0o111) !== 0 });
        bytes += stats.size;
        if (stats.size > largest.size) largest = { path, size: stats.size };
      } else {
        const what = stats.isSymbolicLink() ? "a symbolic link" : "neither a file nor a folder";
        at.report(
          "SEED_INVALID",
          file,
          1,
          `${path} is ${what}: a seed holds plain files.`,
          "Put the file itself there.",
        );
      }
    }
  };
  walk(workspace, "");
  if (bytes > SEED_LIMITS.bytes || seed.length > SEED_LIMITS.files) {
    const size = `${(bytes / 1024 / 1024).toFixed(1)} MiB in ${seed.length} files, the largest ${largest.path}`;
    const message = `The seed has ${size}; at most ${SEED_LIMITS.bytes / 1024 / 1024} MiB in ${SEED_LIMITS.files} files are copied into a sandbox.`;
    at.report(
      "SEED_TOO_LARGE",
      workspace,
      1,
      message,
      "Remove what an agent does not begin with, or fetch it in a tool.",
    );
  }
  return seed;
}
