import { execFile } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { compileMember } from "../packages/runtime/src/compile/index.ts";
import { createFixtureWorkspace } from "../packages/runtime/src/discover/fixture-workspace.ts";
import { ROOT } from "./support/build-workspace.ts";

const GUIDES = join(ROOT, "docs/guides");
const SNIPPET = /^```ts\n\/\/ (agents\/\S+)\n([^]*?)^```$/gm;

/** Files that the guides show, by path below the workspace. */
function snippetsOf(guide: string): Record<string, string> {
  const text = readFileSync(join(GUIDES, guide), "utf8");
  return Object.fromEntries(Array.from(text.matchAll(SNIPPET), ([, path, source]) => [path!, source!]));
}

/** Those that show files of agents; `scripts/snippets.test.ts` reads what callers write. */
const SHOWING = readdirSync(GUIDES).filter((guide) => Object.keys(snippetsOf(guide)).length > 0);

test("most guides show files", () => {
  expect(SHOWING).toEqual(
    expect.arrayContaining(["add-an-agent.md", "agents-and-tasks.md", "authentication.md", "models.md", "sandbox.md"]),
  );
});

test.each(SHOWING)(
  "what %s shows has no type error",
  async (guide) => {
    const snippets = snippetsOf(guide);
    const workspace = createFixtureWorkspace({
      ...snippets,
      "tsconfig.json": JSON.stringify({
        extends: join(ROOT, "tsconfig.base.json"),
        compilerOptions: { typeRoots: [join(ROOT, "packages/runtime/node_modules/@types")] },
        include: ["agents"],
      }),
    });
    try {
      const { stdout } = await promisify(execFile)(
        process.execPath,
        [join(ROOT, "node_modules/typescript/bin/tsc"), "-p", workspace.root],
        { cwd: workspace.root },
      ).catch((error: { stdout: string }) => error);
      expect(stdout).toBe("");
    } finally {
      workspace.remove();
    }
  },
  60_000,
);

test("what sandbox.md shows builds", async () => {
  const workspace = createFixtureWorkspace(snippetsOf("sandbox.md"));
  try {
    const result = await compileMember({ memberDir: workspace.member("foreman") });
    expect([...result.diagnostics, ...result.warnings]).toEqual([]);
  } finally {
    workspace.remove();
  }
}, 60_000);
