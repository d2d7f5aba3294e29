import { execFile } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, readdirSync, rmSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterEach, expect, test } from "vitest";
import { createFixtureWorkspace, type FixtureWorkspace } from "../discover/fixture-workspace.ts";
import { manifestSchema } from "../protocol/manifest.ts";
import { compileMember } from "./index.ts";

const REPOSITORY = fileURLToPath(new URL("../../../../", import.meta.url));

const TEAM = {
  "agents/foreman/agent/agent.ts": `
    import { defineAgent } from "eve";
    export default defineAgent({ description: "Leads.", model: "anthropic/claude-opus-5.5" });`,
  "agents/foreman/agent/instructions.md": "Lead the team.\n",
  "agents/foreman/agent/lib/words.ts": `export const words = (text: string): number => text.split(" ").length;`,
  "agents/foreman/agent/tools/count.ts": `
    import { defineTool } from "eve/tools";
    import { z } from "zod";
    import { words } from "../lib/words.ts";
    export default defineTool({
      description: "Counts.",
      inputSchema: z.object({ text: z.string().describe("What to count."), unit: z.string().default("word") }),
      execute: ({ text }) => words(text),
      onInterrupt: "fail",
    });`,
  "agents/foreman/agent/subagents/research.ts": `
    import { defineWorkspaceAgent } from "eve";
    export default defineWorkspaceAgent({ name: "research" });`,
  "agents/foreman/agent/subagents/weather.ts": `
    import { defineRemoteAgent } from "eve";
    export default defineRemoteAgent({ url: "https://weather.example.com", description: "Weather.", tool: "deferred" });`,
  "agents/foreman/agent/subagents/reviewer/agent.ts": `
    import { defineAgent } from "eve";
    const model: any = { specificationVersion: "v4", provider: "acme.chat", modelId: "large" };
    export default defineAgent({ description: "Reviews.", model, tool: false });`,
  "agents/foreman/agent/subagents/reviewer/instructions.ts": `
    import { defineInstructions } from "eve";
    export default defineInstructions("Review for " + (process.env.TEAM ?? "us"));`,
  "agents/foreman/agent/subagents/reviewer/subagents/nested/agent.ts": `
    import { defineAgent } from "eve";
    export default defineAgent({ description: "Nested." });`,
  "agents/foreman/agent/subagents/reviewer/subagents/nested/instructions.ts": `export default "Plain text.";`,
  "agents/foreman/agent/channels/eve.ts": `
    import { eveChannel } from "eve/channels/eve";
    export default eveChannel();`,
  "agents/research/agent/agent.ts": `
    import { defineAgent } from "eve";
    export default defineAgent({ description: "Finds facts.", tool: false });`,
};

const open: FixtureWorkspace[] = [];
afterEach(() => open.splice(0).forEach((workspace) => workspace.remove()));

function create(files: Record<string, string> = TEAM): FixtureWorkspace {
  const workspace = createFixtureWorkspace(files);
  open.push(workspace);
  return workspace;
}

async function compiled(memberDir: string, mode?: "build" | "dev") {
  const result = await compileMember({ memberDir, ...(mode && { mode }) });
  if (!result.ok) throw new Error(JSON.stringify(result.diagnostics, null, 2));
  return result;
}

const DEFAULT_TOOL = {
  description: expect.any(String),
  inputSchema: expect.objectContaining({ type: "object" }),
  onInterrupt: "retry",
};

test("compiles every kind of definition into the manifest", async () => {
  const workspace = create();
  const { manifest, outDir, entry, bytes, warnings } = await compiled(workspace.member("foreman"));
  expect(warnings).toEqual([]);
  expect(outDir).toBe(join(workspace.member("foreman"), ".eve/build"));
  expect(entry).toBe(join(outDir, "server.mjs"));
  expect(bytes).toBeGreaterThan(1_000);
  expect(manifestSchema.parse(JSON.parse(readFileSync(join(outDir, "manifest.json"), "utf8")))).toEqual(manifest);
  expect(manifest).toMatchObject({ version: 1, member: "foreman", channel: "channels/eve.ts" });

  const [root, reviewer, nested, ...more] = manifest.nodes;
  expect(more).toEqual([]);
  expect(root).toEqual({
    id: "root",
    name: "foreman",
    description: "Leads.",
    source: "agent.ts",
    instructions: "Lead the team.",
    modelId: "anthropic/claude-opus-5.5",
    tools: [
      { ...DEFAULT_TOOL, name: "bash", source: "eve/tools/bash", onInterrupt: "fail" },
      {
        name: "count",
        source: "tools/count.ts",
        description: "Counts.",
        onInterrupt: "fail",
        inputSchema: {
          $schema: expect.any(String),
          type: "object",
          properties: {
            text: { type: "string", description: "What to count." },
            unit: { type: "string", default: "word" },
          },
          // The *input* schema: a field with a default may be left out.
          required: ["text"],
        },
      },
      { ...DEFAULT_TOOL, name: "read_file", source: "eve/tools/read_file" },
      { ...DEFAULT_TOOL, name: "write_file", source: "eve/tools/write_file" },
    ],
    subagents: [
      {
        name: "research",
        kind: "peer",
        source: "subagents/research.ts",
        description: "Finds facts.",
        tool: true,
        peer: "research",
      },
      {
        name: "reviewer",
        kind: "local",
        source: "subagents/reviewer/agent.ts",
        description: "Reviews.",
        tool: false,
        nodeId: "root/reviewer",
      },
      { name: "weather", kind: "remote", source: "subagents/weather.ts", description: "Weather.", tool: "deferred" },
    ],
    composition: [
      { name: "agent", visible: true, kind: "agent", reason: "derived", source: "agent.ts" },
      { name: "bash", visible: true, kind: "tool", reason: "default", source: "eve/tools/bash" },
      { name: "count", visible: true, kind: "tool", reason: "authored", source: "tools/count.ts" },
      { name: "read_file", visible: true, kind: "tool", reason: "default", source: "eve/tools/read_file" },
      { name: "research", visible: true, kind: "agent", reason: "derived", source: "subagents/research.ts" },
      { name: "reviewer", visible: false, kind: "agent", reason: "tool-false", source: "subagents/reviewer/agent.ts" },
      { name: "weather", visible: false, kind: "agent", reason: "deferred", source: "subagents/weather.ts" },
      { name: "write_file", visible: true, kind: "tool", reason: "default", source: "eve/tools/write_file" },
    ],
  });
  expect(reviewer).toMatchObject({
    id: "root/reviewer",
    modelId: "acme.chat/large",
    instructionsSource: "subagents/reviewer/instructions.ts",
  });
  expect(reviewer).not.toHaveProperty("instructions");
  expect(nested).toMatchObject({ id: "root/reviewer/nested", modelId: "eve/offline", instructions: "Plain text." });
});

test("the bundle's table holds the default export of every module", async () => {
  const { outDir } = await compiled(create().member("foreman"));
  const keys = await runWithModules(outDir, "Object.keys(modules).sort()");
  expect(keys).toEqual([
    "agent.ts",
    "channels/eve.ts",
    "eve/tools/bash",
    "eve/tools/read_file",
    "eve/tools/write_file",
    "subagents/research.ts",
    "subagents/reviewer/agent.ts",
    "subagents/reviewer/instructions.ts",
    "subagents/reviewer/subagents/nested/agent.ts",
    "subagents/reviewer/subagents/nested/instructions.ts",
    "subagents/weather.ts",
    "tools/count.ts",
  ]);
  expect(await runWithModules(outDir, `modules["tools/count.ts"].execute({ text: "three short words" })`)).toBe(3);
});

test("CommonJS packages work inside the bundle, and a module may name its own __dirname and require", async () => {
  const { outDir } = await compiled(
    create({
      "agents/a/package.json": JSON.stringify({ dependencies: { eve: "*", zod: "*", old: "*" } }),
      "agents/a/node_modules/old/package.json": JSON.stringify({ name: "old", main: "index.js" }),
      "agents/a/node_modules/old/index.js": `
        const path = require("path");
        module.exports = { join: (a, b) => path.posix.join(a, b), here: path.isAbsolute(__dirname) && path.isAbsolute(__filename) };`,
      "agents/a/agent/tools/t.ts": `
        import { createRequire } from "node:module";
        import { defineTool } from "eve/tools";
        import old from "old";
        import { z } from "zod";
        const __dirname = import.meta.dirname;
        const require = createRequire(import.meta.url);
        const execute = () => [old.join("a", "b"), old.here, typeof __dirname, require("node:path").posix.sep];
        export default defineTool({ description: "d", inputSchema: z.object({}), execute });`,
    }).member("a"),
  );
  expect(await runWithModules(outDir, `modules["tools/t.ts"].execute()`)).toEqual(["a/b", true, "string", "/"]);
});

test("the same sources give the same id and the same bytes, wherever they lie", async () => {
  const first = await compiled(create().member("foreman"));
  const second = await compiled(create().member("foreman"));
  const files = readTree(first.outDir);
  expect([...files.keys()]).toEqual(
    expect.arrayContaining(["manifest.json", "modules.mjs", "server.mjs", "server.mjs.map"]),
  );
  expect(readTree(second.outDir)).toEqual(files);
  // In development the runtime stays outside of the bundle.
  const [one, other] = [first, second].map(({ outDir }) => compiled(join(outDir, "../.."), "dev"));
  const dev = readTree((await one!).outDir);
  expect([...dev.keys()]).not.toContain("server.mjs");
  expect(readTree((await other!).outDir)).toEqual(dev);
});

test("the id follows the code and the instructions", async () => {
  const workspace = create();
  const ids = new Set([(await compiled(workspace.member("foreman"))).manifest.buildId]);
  workspace.write({ "agents/foreman/agent/instructions.md": "Lead well." });
  ids.add((await compiled(workspace.member("foreman"))).manifest.buildId);
  workspace.write({
    "agents/foreman/agent/lib/words.ts": `export const words = (text: string): number => text.length;`,
  });
  ids.add((await compiled(workspace.member("foreman"))).manifest.buildId);
  expect(ids.size).toBe(3);
});

test("no absolute path of this machine is in the output", async () => {
  const workspace = create();
  const { outDir } = await compiled(workspace.member("foreman"));
  for (const [name, text] of readTree(outDir)) {
    // The fixture's `eve` is a link out of the workspace, so relative paths to this repository are expected.
    const absolute = text.replace(/(?:\.\.\/)+[^\s"']*/g, "");
    expect(absolute.includes(workspace.root), name).toBe(false);
    expect(absolute.includes(REPOSITORY), name).toBe(false);
  }
});

test("a failed build leaves the last good one and nothing else", async () => {
  const workspace = create();
  const { outDir } = await compiled(workspace.member("foreman"));
  const good = readTree(outDir);
  workspace.write({ "agents/foreman/agent/tools/count.ts": "export default {" });
  const failed = await compileMember({ memberDir: workspace.member("foreman") });
  expect(failed.ok).toBe(false);
  expect(readTree(outDir)).toEqual(good);
  expect(readdirSync(join(outDir, ".."))).toEqual(["build"]);
});

test("a new build replaces the old one completely", async () => {
  const workspace = create();
  const { outDir } = await compiled(workspace.member("foreman"));
  const before = [...readTree(outDir).keys()].find((name) => name.startsWith("chunks/count-"))!;
  workspace.write({
    "agents/foreman/agent/lib/words.ts": `export const words = (text: string): number => text.length;`,
  });
  await compiled(workspace.member("foreman"));
  expect(existsSync(join(outDir, before))).toBe(false);
  expect(readdirSync(join(outDir, ".."))).toEqual(["build"]);
});

test("a member alone needs no workspace, and no module of its own", async () => {
  const workspace = create({
    "agents/other/agent/agent.ts": "",
    "alone/package.json": JSON.stringify({ dependencies: { eve: "*" } }),
    "alone/agent/instructions.md": "Be brief.",
  });
  rmSync(join(workspace.root, "pnpm-workspace.yaml"));
  mkdirSync(join(workspace.root, "alone/node_modules"));
  symlinkSync(join(workspace.member("other"), "node_modules/eve"), join(workspace.root, "alone/node_modules/eve"));
  const { manifest } = await compiled(join(workspace.root, "alone"));
  expect(manifest.nodes).toEqual([
    expect.objectContaining({
      id: "root",
      name: "alone",
      description: "",
      instructions: "Be brief.",
      modelId: "eve/offline",
    }),
  ]);
});

/** Evaluates an expression over the bundle's table in a plain Node process, without the test runner's transforms. */
async function runWithModules(outDir: string, expression: string): Promise<unknown> {
  const code = `import { modules } from "./modules.mjs"; console.log(JSON.stringify(${expression}));`;
  const { stdout } = await promisify(execFile)(process.execPath, ["--input-type=module", "--eval", code], {
    cwd: outDir,
  });
  return JSON.parse(stdout);
}

function readTree(folder: string): Map<string, string> {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  const paths = files.map((file) => join(file.parentPath, file.name)).sort();
  return new Map(paths.map((path) => [path.slice(folder.length + 1), readFileSync(path, "utf8")]));
}
