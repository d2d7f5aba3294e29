import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import type { DiscoveredNode } from "../discover/index.ts";
import type { ManifestNode } from "../protocol/manifest.ts";

type Seed = NonNullable<ManifestNode["sandbox"]>["seed"];

export interface SeedFiles {
  /** By node. */
  readonly seeds: ReadonlyMap<string, Seed>;
  /** Path below the output folder → content. */
  readonly files: ReadonlyMap<string, Uint8Array>;
}

/**
 * The seeds of all nodes as files of the build. They are named by their content: what packs a build must find no dot
 * file to leave out, no permission to keep and no path to resolve.
 */
export function readSeedFiles(nodes: readonly DiscoveredNode[]): SeedFiles {
  const files = new Map<string, Uint8Array>();
  const seeds = new Map<string, Seed>();
  for (const { id, sandbox } of nodes) {
    if (sandbox === undefined || sandbox.seed.length === 0) continue;
    const seed = sandbox.seed.map(({ path, file, executable }) => {
      const content = readFileSync(file);
      const name = `seeds/${createHash("sha256").update(content).digest("hex").slice(0, 32)}`;
      files.set(name, content);
      return { path, file: name, executable };
    });
    seeds.set(id, seed);
  }
  return { seeds, files };
}
