import { afterEach, describe, expect, test } from "vitest";
import { DIAGNOSTIC_CODES, formatDiagnostic, type Diagnostic } from "../discover/index.ts";
import { createFixtureWorkspace, type FixtureWorkspace } from "../discover/fixture-workspace.ts";
import { agent, GOOD_TOOL, peer, tool } from "./definitions.fixture.ts";
import { compileMember } from "./index.ts";

const seen = new Set<string>();
let workspace: FixtureWorkspace;
afterEach(() => workspace.remove());

/** Compiles `agents/a`; the keys are paths below its `agent/`, or below the root when they start with `/`. */
async function diagnose(files: Record<string, string>, timeoutMs?: number) {
  workspace = createFixtureWorkspace({
    "agents/peer/agent/agent.ts": `import { defineAgent } from "eve";\nexport default defineAgent({ description: "P." });`,
    ...Object.fromEntries(
      Object.entries(files).map(([path, text]) => [
        path.startsWith("/") ? path.slice(1) : `agents/a/agent/${path}`,
        text,
      ]),
    ),
  });
  const limit = timeoutMs === undefined ? {} : { timeoutMs };
  const result = await compileMember({ memberDir: workspace.member("a"), ...limit });
  for (const { code } of [...result.diagnostics, ...result.warnings]) seen.add(code);
  expect(result.ok).toBe(result.diagnostics.length === 0);
  return { errors: result.diagnostics.map(place), all: result.diagnostics, warnings: result.warnings };
}

function place({ code, path, line }: Diagnostic): string {
  return `${code} ${path.replace("agents/a/agent/", "")}:${line}`;
}

test("a broken file hides the errors of no other file", async () => {
  const { errors } = await diagnose({
    "agent.ts": `import { defineAgent } from "eve";\nexport default defineAgent({\n  modle: "x",\n});`,
    "hooks/later.ts": "",
    "instructions.ts": "export default 1;",
    "subagents/nobody.ts": peer(`  name: "per",`),
    "subagents/quiet/agent.ts": agent(`  model: "acme/large",`),
    "tools/broken.ts": "export default {\n  a: ,\n};",
    "tools/good.ts": GOOD_TOOL,
    "tools/lost.ts": `import "./nowhere.ts";`,
    "tools/quiet.ts": GOOD_TOOL,
    "tools/undeclared.ts": `\nimport "left-pad";`,
    "tools/noDefault.ts": "",
    "tools/none.ts": "export const a = 1, b = 2;",
  });
  expect(errors).toEqual([
    "OPTION_INVALID agent.ts:3",
    "SLOT_UNSUPPORTED hooks:1",
    "EXPORT_KIND instructions.ts:1",
    "PEER_UNKNOWN subagents/nobody.ts:4",
    "DESCRIPTION_MISSING subagents/quiet/agent.ts:3",
    "SYNTAX_ERROR tools/broken.ts:2",
    "IMPORT_UNRESOLVED tools/lost.ts:1",
    "NAME_INVALID tools/noDefault.ts:1",
    "EXPORT_MISSING tools/none.ts:1",
    "NAME_COLLISION tools/quiet.ts:5",
    "DEPENDENCY_UNDECLARED tools/undeclared.ts:2",
  ]);
});

describe("code", () => {
  test("two syntax errors of different files, and one shared file reported once", async () => {
    const { errors } = await diagnose({
      "lib/shared.ts": "const a = ;",
      "tools/one.ts": `import "../lib/shared.ts";\nexport default 1;`,
      "tools/two.ts": `import "../lib/shared.ts";\nexport default 1;`,
      "tools/three.ts": "\n\nlet x = (;",
    });
    expect(errors).toEqual(["SYNTAX_ERROR lib/shared.ts:1", "SYNTAX_ERROR tools/three.ts:3"]);
  });

  test("imports that do not exist", async () => {
    const { errors, all } = await diagnose({
      "lib/x.ts": "export const here = 1;",
      "tools/a.ts": `import { here } from "../lib/x.ts";\nimport { gone } from "../lib/x.ts";\nexport default [here, gone];`,
      "tools/b.ts": `import "../lib/y.ts";`,
    });
    expect(errors).toEqual(["IMPORT_UNRESOLVED tools/a.ts:2", "IMPORT_UNRESOLVED tools/b.ts:1"]);
    expect(all[0]!.fix).toBe("Import a name that the file exports.");
  });

  test("files that can not be bundled", async () => {
    const { errors } = await diagnose({ "lib/x.xyz": "", "tools/a.ts": `\nimport "../lib/x.xyz";` });
    expect(errors).toEqual(["BUNDLE_FAILED tools/a.ts:2"]);
  });

  test("suspicious code is a warning, and only in authored files", async () => {
    const { errors, warnings } = await diagnose({
      "tools/a.ts": `${GOOD_TOOL}\nexport const same = { a: 1,\n a: 2 };`,
    });
    expect(errors).toEqual([]);
    expect(warnings.map(place)).toEqual(["SOURCE_WARNING tools/a.ts:12"]);
  });
});

describe("dependencies", () => {
  test("must be declared by the member, whoever installed them", async () => {
    const { errors, all } = await diagnose({
      "/node_modules/hoisted/index.js": "export default 1;",
      "/node_modules/@scope/hoisted/sub.js": "export default 1;",
      "/agents/a/package.json": `{ "dependencies": { "zod": "*" } }`,
      "lib/x.ts": `import "@scope/hoisted/sub.js";\nimport "node:fs";\nimport "fs/promises";`,
      "tools/a.ts": `import "../lib/x.ts";\nimport "hoisted";\nimport type { T } from "only-types";\n${GOOD_TOOL}`,
    });
    expect(errors).toEqual([
      "DEPENDENCY_UNDECLARED lib/x.ts:1",
      "DEPENDENCY_UNDECLARED tools/a.ts:2",
      "DEPENDENCY_UNDECLARED tools/a.ts:5",
      "DEPENDENCY_UNDECLARED agents/a/package.json:1",
    ]);
    expect(all.map(({ message }) => message.split(" ")[0])).toEqual([
      `"@scope/hoisted"`,
      `"hoisted"`,
      `"eve"`,
      `"eve"`,
    ]);
  });

  test("of dependencies are not the member's business", async () => {
    const { errors } = await diagnose({
      "/agents/a/package.json": `{ "dependencies": { "eve": "*", "zod": "*", "direct": "*" } }`,
      "/agents/a/node_modules/direct/index.js": `import "indirect";`,
      "/agents/a/node_modules/direct/node_modules/indirect/index.js": "",
      "tools/a.ts": `import "direct";\n${GOOD_TOOL}`,
    });
    expect(errors).toEqual([]);
  });

  test("are not confused with path aliases and subpath imports of the member itself", async () => {
    const { errors } = await diagnose({
      "/agents/a/tsconfig.json": `{ "compilerOptions": { "paths": { "@/*": ["./agent/*"] } } }`,
      "/agents/a/package.json": `{ "dependencies": { "eve": "*", "zod": "*" }, "imports": { "#x": "./agent/lib/x.ts" } }`,
      "lib/x.ts": "export const x = 1;",
      "tools/a.ts": `import { x } from "@/lib/x.ts";\nimport * as same from "#x";\nconsole.assert(same.x === x);${GOOD_TOOL}`,
    });
    expect(errors).toEqual([]);
  });

  test("include eve itself, even when no module imports it", async () => {
    const { errors, all } = await diagnose({ "/agents/a/package.json": "{}", "instructions.md": "Be brief." });
    expect(errors).toEqual(["DEPENDENCY_UNDECLARED agents/a/package.json:1"]);
    expect(all[0]!.fix).toContain(`"eve"`);
  });
});

describe("definitions", () => {
  test("of the wrong kind say what they are and what the slot takes", async () => {
    const { errors, all } = await diagnose({
      "agent.ts": "\nexport default () => {};",
      "channels/eve.ts": agent(""),
      "subagents/local.ts": agent(`  description: "d",`),
      "tools/agent_in_tools.ts": agent(`  description: "d",`),
      "tools/plain.ts": "const tool = { execute() {} };\nexport { tool as default };",
      "tools/promised.ts": "export default Promise.resolve(1);",
    });
    expect(errors).toEqual([
      "EXPORT_KIND agent.ts:2",
      "EXPORT_KIND channels/eve.ts:3",
      "EXPORT_KIND subagents/local.ts:3",
      "EXPORT_KIND tools/agent_in_tools.ts:3",
      "EXPORT_KIND tools/plain.ts:2",
      "EXPORT_KIND tools/promised.ts:1",
    ]);
    expect(all.map(({ message }) => /is (.*), but/.exec(message)![1])).toEqual([
      "a function",
      "defineAgent(…)",
      "defineAgent(…)",
      "defineAgent(…)",
      "a plain object",
      "a promise",
    ]);
  });

  test("that throw point at the offending option and pass the fix on", async () => {
    const { errors, all } = await diagnose({
      "tools/a.ts": tool(`  onInterrupt: "fail",\n  inputSchema: "text",`),
      "tools/b.ts": tool(`  inputSchema: z.object({}),\n  name: "b",`),
    });
    expect(errors).toEqual(["OPTION_INVALID tools/a.ts:8", "OPTION_INVALID tools/b.ts:8"]);
    expect(all[0]!.message).toContain('as "inputSchema" a Zod schema of an object');
    expect(all[0]!.fix).toBe('Correct "inputSchema".');
  });

  test("that throw in plain code point at the frame, shared code once", async () => {
    const { errors, all } = await diagnose({
      "lib/x.ts": `interface Erased {\n  a: string;\n}\nexport function fail(): never {\n  throw new TypeError("no\\nluck");\n}\nfail();`,
      "tools/a.ts": `import "../lib/x.ts";\n${GOOD_TOOL}`,
      "tools/b.ts": `import "../lib/x.ts";\n${GOOD_TOOL}`,
      "tools/c.ts": `const a = 1;\n\nthrow "text";\nexport default a;`,
    });
    expect(errors).toEqual(["MODULE_THREW lib/x.ts:5", "MODULE_THREW tools/c.ts:4"]);
    expect(formatDiagnostic(all[0]!)).toMatch(/^agents\/a\/agent\/lib\/x.ts:5 MODULE_THREW .*: no luck — /);
  });

  test("with a schema that is not one JSON object", async () => {
    const { errors, all } = await diagnose({
      "tools/date.ts": tool("  inputSchema: z.object({ at: z.date() }),"),
      "tools/list.ts": tool("\n  inputSchema: z.array(z.string()),"),
      "tools/union.ts": tool("  inputSchema: z.union([z.object({ a: z.string() }), z.object({ b: z.string() })]),"),
    });
    expect(errors).toEqual([
      "SCHEMA_INVALID tools/date.ts:7",
      "SCHEMA_INVALID tools/list.ts:8",
      "SCHEMA_INVALID tools/union.ts:7",
    ]);
    expect(all[0]!.message).toContain("Date");
    expect(all[1]!.message).toContain("array");
  });

  test("with an option that is none of the allowed values", async () => {
    const { errors } = await diagnose({
      "tools/a.ts": tool(`  inputSchema: z.object({}),\n  onInterrupt: "explode",`),
    });
    expect(errors).toEqual(["OPTION_INVALID tools/a.ts:8"]);
  });

  test("that need variables warn of those that are not set here", async () => {
    const source = agent(`  requiredEnv: ["EVE_TEST_SET", "EVE_TEST_UNSET"],`);
    const { warnings } = await diagnose({ "/agents/a/.env": "EVE_TEST_SET=secret", "agent.ts": source });
    expect(warnings.map(place)).toEqual(["ENV_UNSET agent.ts:4"]);
  });
  test("with empty instructions", async () => {
    const { errors } = await diagnose({ "instructions.ts": `export default " ";` });
    expect(errors).toEqual(["INSTRUCTIONS_EMPTY instructions.ts:1"]);
  });

  test("of subagents need a description; names collide unless the subagent steps back", async () => {
    const { errors, warnings } = await diagnose({
      "subagents/a/agent.ts": agent(`  model: "acme/large",`),
      "subagents/b/agent.ts": agent(`  description: "d",\n  tool: false,`),
      "subagents/c/agent.ts": agent(`  description: "d",\n  tool: "deferred",`),
      "subagents/d/agent.ts": agent(`  description: "d",`),
      "tools/b.ts": GOOD_TOOL,
      "tools/c.ts": GOOD_TOOL,
      "tools/d.ts": `import { disableTool } from "eve/tools";\nexport default disableTool();`,
      "tools/e.ts": `import { disableTool } from "eve/tools";\nexport default disableTool();`,
      "subagents/d/tools/agent.ts": `export { default } from "eve/tools/agent";`,
    });
    expect(errors).toEqual(["DESCRIPTION_MISSING subagents/a/agent.ts:3", "NAME_COLLISION tools/c.ts:5"]);
    const [copy, ...more] = warnings.map(place);
    expect([copy, more]).toEqual(["ROOT_AGENT_UNUSED subagents/d/tools/agent.ts:1", ["DISABLE_UNUSED tools/e.ts:2"]]);
  });
});

describe("peers", () => {
  test("are known members, not the member itself, in every node", async () => {
    const { errors, all } = await diagnose({
      "/agents/other/agent/agent.ts": "",
      "subagents/self.ts": peer(`  name: "a",`),
      "subagents/fine.ts": peer(`  name: "peer",`),
      "subagents/local/agent.ts": agent(`  description: "d",`),
      "subagents/local/subagents/typo.ts": peer(`  description: "d",\n  name: "pear",`),
    });
    expect(errors).toEqual(["PEER_UNKNOWN subagents/local/subagents/typo.ts:5", "PEER_SELF subagents/self.ts:4"]);
    expect(all[0]!.fix).toBe('Name one of the members (other, peer); did you mean "peer"?');
  });

  test("need a description, from the caller or from themselves", async () => {
    const { errors, all } = await diagnose({
      "/agents/bare/agent/lib/x.ts": "",
      "/agents/silent/agent/agent.ts": agent(""),
      "subagents/bare.ts": peer(`  name: "bare",`),
      "subagents/described.ts": peer(`  name: "silent",\n  description: "Own text.",`),
      "subagents/one.ts": peer(`  name: "silent",`),
      "subagents/two.ts": peer(`\n  name: "silent",`),
    });
    expect(errors).toEqual([
      "DESCRIPTION_MISSING subagents/bare.ts:4",
      "DESCRIPTION_MISSING subagents/one.ts:4",
      "DESCRIPTION_MISSING subagents/two.ts:5",
    ]);
    expect(all[0]!.fix).toContain("agents/bare/agent/agent.ts");
  });

  test("that are broken are reported where they are broken, and only their agent.ts counts", async () => {
    const { errors } = await diagnose({
      "/agents/syntax/agent/agent.ts": "export default (;",
      "/agents/throws/agent/agent.ts": "\nthrow new Error('no');",
      "/agents/kind/agent/agent.ts": "export default {};",
      "/agents/elsewhere/agent/agent.ts": agent(`  description: "d",`),
      "/agents/elsewhere/agent/tools/broken.ts": "export default (;",
      "subagents/1.ts": "",
      "subagents/a.ts": peer(`  name: "syntax",`),
      "subagents/b.ts": peer(`  name: "throws",`),
      "subagents/c.ts": peer(`  name: "kind",`),
      "subagents/d.ts": peer(`  name: "elsewhere",`),
    });
    expect(errors).toEqual([
      "NAME_INVALID subagents/1.ts:1",
      "EXPORT_KIND agents/kind/agent/agent.ts:1",
      "SYNTAX_ERROR agents/syntax/agent/agent.ts:1",
      "MODULE_THREW agents/throws/agent/agent.ts:2",
    ]);
  });
});

describe("modules that do not come back", () => {
  test("wait forever, block or end the process: each is named, the others are still read", async () => {
    const { errors, all } = await diagnose(
      {
        "tools/a_blocks.ts": "\nfor (;;);\nexport default 1;",
        "tools/b_ends.ts": "process.exit(3);",
        "tools/c_waits.ts": "await new Promise(() => {});\nexport default 1;",
        "tools/d_kind.ts": "export default 1;",
        "tools/e_late.ts": `setTimeout(() => { throw new Error("later"); }, 10);\nvoid Promise.reject(1);\n${GOOD_TOOL}`,
        "tools/f_kind.ts": "await new Promise((resolve) => setTimeout(resolve, 100));\nexport default 1;",
      },
      500,
    );
    expect(errors).toEqual([
      "MODULE_TIMEOUT tools/a_blocks.ts:3",
      "MODULE_THREW tools/b_ends.ts:1",
      "MODULE_TIMEOUT tools/c_waits.ts:2",
      "EXPORT_KIND tools/d_kind.ts:1",
      "EXPORT_KIND tools/f_kind.ts:2",
    ]);
    expect(all[1]!.message).toContain("exit code 3");
  }, 30_000);
});

test("slots, names and packages are reported by the same call", async () => {
  const { errors } = await diagnose({
    "/agents/a/package.json": `{\n  "dependencies": {\n}`,
    "instructions.md": "a",
    "instructions.ts": `export default "b";`,
    "notes.txt": "",
    "subagents/x/instructions.md": "x",
    "subagents/y/agent.ts": agent(`  description: "d",`),
    "subagents/y/channels/eve.ts": "",
  });
  expect(errors).toEqual([
    "SLOT_DUPLICATE instructions.ts:1",
    "SLOT_UNKNOWN notes.txt:1",
    "AGENT_MISSING subagents/x:1",
    "SLOT_ROOT_ONLY subagents/y/channels:1",
    "PACKAGE_INVALID agents/a/package.json:3",
  ]);
});

test("a folder without agent/ is told so and nothing else", async () => {
  const { errors } = await diagnose({ "/agents/a/readme.md": "" });
  expect(errors).toEqual(["AGENT_MISSING agents/a:1"]);
});

test("this file has seen every code, but for those of seeds: discover-sandbox.test.ts has", () => {
  workspace = createFixtureWorkspace({});
  expect([...seen].sort()).toEqual(DIAGNOSTIC_CODES.filter((code) => !code.startsWith("SEED_")));
});
