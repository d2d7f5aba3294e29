import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { afterEach, describe, expect, it, test } from "vitest";
import { createFixtureWorkspace, type FixtureWorkspace } from "../../discover/fixture-workspace.ts";
import { compileMember } from "../index.ts";
import { shakeZod } from "./shake-zod.ts";

describe("shakeZod", () => {
  it.each([
    [`import { z } from "zod";`, `import * as z from "zod";`],
    [`import {z} from 'zod'`, `import * as z from 'zod'`],
    [`import { z, } from "zod/v4";`, `import * as z from "zod/v4";`],
    [
      `// A tool\nimport { defineTool } from "eve/tools";\n\nimport { z } from "zod";\nimport "./x.ts";\nexport const a = 1;`,
      `// A tool\nimport { defineTool } from "eve/tools";\n\nimport * as z from "zod";\nimport "./x.ts";\nexport const a = 1;`,
    ],
    [
      `/* doc */ import a, { b } from "c"; import { z } from "zod";`,
      `/* doc */ import a, { b } from "c"; import * as z from "zod";`,
    ],
    [
      `import {
  z,
} from "zod";
z.string();`,
      `import * as z

 from "zod";
z.string();`,
    ],
  ])("rewrites %j", (source, expected) => {
    expect(shakeZod(source)).toBe(expected);
  });

  it.each([
    `import * as z from "zod";`,
    `import { z as schema } from "zod";`,
    `import { z, ZodError } from "zod";`,
    `import type { z } from "zod";`,
    `import z from "zod";`,
    `import { z } from "./zod";`,
    `import { z } from "zod/v3";`,
    'export default `\nimport { z } from "zod";\n`;',
    `// import { z } from "zod";`,
    ``,
    `const { z } = await import("zod");`,
  ])("leaves %j", (source) => {
    expect(shakeZod(source)).toBe(source);
  });
});

let workspace: FixtureWorkspace;
afterEach(() => workspace?.remove());

test("a member has of zod what it uses, and that works as before", async () => {
  workspace = createFixtureWorkspace({
    "agents/a/agent/tools/plain.ts": tool(`z.object({ n: z.number().min(2), at: z.iso.date() })`),
    "agents/b/agent/tools/german.ts": tool(
      `z.object({ n: z.number().min(2), at: z.iso.date() })`,
      `z.config(z.locales.de());`,
    ),
  });
  const [a, b] = [await compile("a"), await compile("b")];
  expect(messages(a.outDir, "tools/plain.ts")).toEqual(["Too small: expected number to be >=2", "Invalid ISO date"]);
  expect(messages(b.outDir, "tools/german.ts")).toEqual([
    expect.stringMatching(/^Zu klein/),
    expect.stringMatching(/^Ungültig/),
  ]);
  expect(b.bytes - a.bytes).toBeGreaterThan(200_000);
});

async function compile(name: string) {
  const result = await compileMember({ memberDir: workspace.member(name) });
  if (!result.ok) throw new Error(JSON.stringify(result.diagnostics));
  return result;
}

function tool(schema: string, first = ""): string {
  return `import { defineTool } from "eve/tools";
import { z } from "zod";
${first}
export default defineTool({ description: "d", inputSchema: ${schema}, execute: () => 1 });`;
}

/** What the tool's schema says to wrong input, in the built bundle. */
function messages(outDir: string, source: string): string[] {
  const code = `const { modules } = await import(${JSON.stringify(join(outDir, "modules.mjs"))});
    const { error } = modules[${JSON.stringify(source)}].inputSchema.safeParse({ n: 1, at: "x" });
    console.log(JSON.stringify(error.issues.map(({ message }) => message)));`;
  return JSON.parse(execFileSync(process.execPath, ["--input-type=module", "-e", code], { encoding: "utf8" }));
}
