import { createHash } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { findPeers } from "eve/vercel";

/**
 * Writes `agents/<member>/.eve/peers.json`, an input of the member's build: a member holds the descriptions of its
 * peers, so it is built again when one of those changes, and only then. An input glob over all members would rebuild
 * everybody at every change of an `agent.ts`.
 */
export function writePeerStamps(root: string): void {
  for (const member of readdirSync(join(root, "agents"))) {
    if (!isFolder(join(root, "agents", member, "agent"))) continue;
    const stamp = Object.fromEntries(findPeers(root, member).map((peer) => [peer, digestOf(root, peer)]));
    writeWhenChanged(join(root, "agents", member, ".eve/peers.json"), `${JSON.stringify(stamp, null, 2)}\n`);
  }
}

/** Of what the description of a member can come from: its `agent.ts`, and the files which that imports. */
function digestOf(root: string, member: string): string {
  const hash = createHash("sha256");
  const paths = new Set([join(root, "agents", member, "agent/agent.ts")]);
  for (const path of paths) {
    const source = read(path);
    hash.update(`${relative(root, path)}\0${source}\0`);
    for (const [, specifier] of source.matchAll(RELATIVE_IMPORT)) {
      const imported = join(dirname(path), specifier!);
      for (const candidate of [imported, `${imported}.ts`, join(imported, "index.ts")]) {
        if (statSync(candidate, { throwIfNoEntry: false })?.isFile()) paths.add(candidate);
      }
    }
  }
  return hash.digest("hex").slice(0, 16);
}

const RELATIVE_IMPORT = /\b(?:from|import)\s*\(?\s*["'](\.{1,2}\/[^"']+)["']/g;

function writeWhenChanged(path: string, content: string): void {
  if (read(path) === content) return;
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, content);
}

function read(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
}
