import { appendFileSync, existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Writable } from "node:stream";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { buildMembers } from "../scripts/build-members.ts";
import { copyForBuild, runBuild } from "./support/build-copy.ts";

let workspace: ReturnType<typeof copyForBuild>;

beforeAll(async () => {
  workspace = copyForBuild();
  write(
    "agents/research/agent/agent.ts",
    `import { defineAgent } from "eve";
import { words } from "./lib/words.ts";
export default defineAgent({ description: words });
`,
  );
  write("agents/research/agent/lib/words.ts", `export const words = "Knows the sea.";\n`);
  expect(await build()).toEqual(["foreman", "research"]);
});
afterAll(() => workspace?.[Symbol.dispose]());

describe("members are built through turbo", () => {
  test("nothing changed: nothing runs", async () => {
    expect(await build()).toEqual([]);
  });

  test.each([
    ["foreman", "agents/foreman/agent/agent.ts"],
    ["research", "agents/research/agent/tools/look_up.ts"],
  ])("a change in one member builds that one only: %s, %s", async (member, path) => {
    appendFileSync(join(workspace.root, path), "\n");
    expect(await build()).toEqual([member]);
  });

  test("a member follows the description of its peer, also when that comes from another file", async () => {
    expect(descriptionInForeman()).toBe("Knows the sea.");
    write("agents/research/agent/lib/words.ts", `export const words = "Knows the moon.";\n`);
    expect(await build()).toEqual(["foreman", "research"]);
    expect(descriptionInForeman()).toBe("Knows the moon.");
  });

  test("a build that is missing comes back from the cache", async () => {
    rmSync(join(workspace.root, "agents/foreman/dist"), { recursive: true });
    rmSync(join(workspace.root, "agents/foreman/.eve/build"), { recursive: true });
    expect(await build()).toEqual([]);
    expect(existsSync(join(workspace.root, "agents/foreman/dist/index.mjs"))).toBe(true);
    expect(descriptionInForeman()).toBe("Knows the moon.");
  });
});

test("a dependency that is used but not declared fails `pnpm build`, which names it", async () => {
  write("agents/foreman/agent/tools/borrow.ts", `import MiniSearch from "minisearch";\nexport default MiniSearch;\n`);
  const { code, result, log } = await runBuild(workspace.root);
  expect({ code, result }).toEqual({ code: 1, result: { ok: false, failed: ["foreman"] } });
  expect(log).toContain(
    'agents/foreman/agent/tools/borrow.ts:1 DEPENDENCY_UNDECLARED "minisearch" is imported but not declared',
  );
  expect(log).not.toContain("Vercel CLI");
});

/** Builds, and says which members were compiled. */
async function build(): Promise<string[]> {
  let log = "";
  const sink = new Writable({ write: (chunk: Buffer, _, done) => ((log += chunk.toString()), done()) });
  const { ok, tasks } = await buildMembers(workspace.root, sink);
  if (!ok) throw new Error(log);
  expect(tasks.map(({ member }) => member).toSorted()).toEqual(["foreman", "research"]);
  return tasks
    .filter(({ cached }) => !cached)
    .map(({ member }) => member)
    .toSorted();
}

function write(path: string, text: string): void {
  writeFileSync(join(workspace.root, path), text);
}

function descriptionInForeman(): string {
  const manifest = JSON.parse(readFileSync(join(workspace.root, "agents/foreman/dist/manifest.json"), "utf8"));
  const { subagents } = manifest.nodes[0] as { subagents: { name: string; description: string }[] };
  return subagents.find(({ name }) => name === "research")!.description;
}
