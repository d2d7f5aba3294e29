import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { createBuildFolders } from "./build-folders.ts";

let member: string;
beforeEach(() => (member = mkdtempSync(join(tmpdir(), "folders-"))));
afterEach(() => rmSync(member, { recursive: true }));

function build({ next }: { next: string }): void {
  mkdirSync(next, { recursive: true });
  writeFileSync(join(next, "modules.mjs"), "");
}

it("gives every build a folder of its own, also the same one again, and removes them when told", () => {
  const folders = createBuildFolders(member);
  const kept = ["a", "b", "a", "c"].map((id) => {
    build(folders);
    return folders.keep(id);
  });
  expect(new Set(kept).size).toBe(4);
  expect(kept.every((folder) => existsSync(join(folder, "modules.mjs")))).toBe(true);
  build(folders);
  folders.removeBefore(kept[2]!);
  // A later one, or one in the making, is not in use yet.
  expect([...kept, folders.next].map((folder) => existsSync(folder))).toEqual([false, false, true, true, true]);
  folders.remove();
  expect(readdirSync(join(member, ".eve/dev"))).toEqual([]);
});

it("removes what supervisors left that are gone, and nothing of one that runs", () => {
  const base = join(member, ".eve/dev");
  for (const name of ["4194305", String(process.ppid), "chunks"]) mkdirSync(join(base, name), { recursive: true });
  createBuildFolders(member);
  expect(readdirSync(base)).toEqual([String(process.ppid)]);
});
