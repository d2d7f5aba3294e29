import { afterEach, expect, test } from "vitest";
import type { Diagnostic } from "../discover/index.ts";
import { createFixtureWorkspace, type FixtureWorkspace } from "../discover/fixture-workspace.ts";
import { GOOD_TOOL } from "./definitions.fixture.ts";
import { compileMember } from "./index.ts";

let workspace: FixtureWorkspace;
afterEach(() => workspace.remove());

/** What is said of `agents/a`; the keys are paths below its `agent/`, or below the root when they start with `/`. */
async function diagnose(files: Record<string, string>): Promise<readonly Diagnostic[]> {
  workspace = createFixtureWorkspace(
    Object.fromEntries(
      Object.entries(files).map(([path, text]) => [
        path.startsWith("/") ? path.slice(1) : `agents/a/agent/${path}`,
        text,
      ]),
    ),
  );
  return (await compileMember({ memberDir: workspace.member("a") })).diagnostics;
}

test("names of packages, of their parts and of what they export are guessed", async () => {
  const all = await diagnose({
    "/agents/a/package.json": `{ "name": "a", "dependencies": { "eve": "*", "zod": "*" } }`,
    "tools/a.ts": `import { defineTol } from "eve/tools";\nexport default defineTol({});`,
    "tools/b.ts": `import {\n  defineTol,\n} from "eve/tools";\nexport default defineTol({});`,
    "tools/c.ts": `import { defineTool } from "eve/tool";\nexport default defineTool({});`,
    "tools/d.ts": `import { z } from "zodd";\nexport default z;`,
    "tools/e.ts": `import pad from "left-pad";\nexport default pad;`,
    "tools/f.ts": `import { x } from "eve/something/else";\nexport default x;`,
  });
  expect(all.map(({ code, message, fix }) => [code, message, fix])).toEqual([
    ["IMPORT_UNRESOLVED", `"eve/tools" does not export "defineTol".`, `Import "defineTool".`],
    ["IMPORT_UNRESOLVED", `The imported module does not export "defineTol".`, `Import "defineTool".`],
    ["IMPORT_UNRESOLVED", `"eve/tool" is no export of the package "eve".`, `Import "eve/tools".`],
    [
      "DEPENDENCY_UNDECLARED",
      `"zodd" is imported but not declared as a dependency.`,
      `Import "zod", which is declared, or run \`pnpm --filter ./agents/a add zodd\`.`,
    ],
    [
      "DEPENDENCY_UNDECLARED",
      `"left-pad" is imported but not declared as a dependency.`,
      `Run \`pnpm --filter ./agents/a add left-pad\`, which adds it to agents/a/package.json.`,
    ],
    [
      "IMPORT_UNRESOLVED",
      `"eve/something/else" is no export of the package "eve".`,
      expect.stringMatching(/^Import what it exports: "eve", "eve\/tools", /),
    ],
  ]);
});

test("two default exports are named both", async () => {
  const all = await diagnose({ "tools/a.ts": "export default 1;\nexport const a = 1;\nexport default 2;" });
  expect(all.map(({ line, message, fix }) => [line, message, fix])).toEqual([
    [3, "This file has two default exports, at lines 1 and 3.", "Keep one of them."],
  ]);
});

test("a slot that is nearly one says which", async () => {
  const all = await diagnose({ "tool/x.ts": GOOD_TOOL, "instruction.md": "Be kind.", "other/x.ts": "" });
  expect(all.map(({ path, fix }) => `${path.replace("agents/a/agent/", "")}: ${fix}`)).toEqual([
    "instruction.md: Rename it to instructions.md.",
    expect.stringMatching(/^other: Rename or move it \(plain code belongs in lib\/\); the slots are /),
    "tool: Rename it to tools/.",
  ]);
});
