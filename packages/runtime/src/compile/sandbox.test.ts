import { chmodSync, existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { createFixtureWorkspace, type FixtureWorkspace } from "../discover/fixture-workspace.ts";
import { agent, GOOD_TOOL } from "./definitions.fixture.ts";
import { compileMember } from "./index.ts";

let workspace: FixtureWorkspace;
afterEach(() => workspace.remove());

const SUBAGENT = agent(`  description: "d",`);
const DISABLED = `import { disableTool } from "eve/tools";\nexport default disableTool();`;
const reexport = (name: string): string => `export { default } from "eve/tools/${name}";`;

function create(agentFiles: Record<string, string>) {
  const files = Object.entries(agentFiles).map(([path, text]) => [`agents/a/agent/${path}`, text]);
  workspace = createFixtureWorkspace(Object.fromEntries(files));
  return (path: string) => join(workspace.member("a"), path);
}

async function compile(mode: "build" | "dev" = "build") {
  const result = await compileMember({ memberDir: workspace.member("a"), mode });
  if (!result.ok) throw new Error(JSON.stringify(result.diagnostics, null, 2));
  return result;
}

test("seeds are files of the build and of the function, byte for byte, however they are named", async () => {
  const at = create({
    "sandbox/workspace/run.sh": "echo",
    "sandbox/workspace/.hidden/a b.txt": "same",
    "subagents/b/agent.ts": SUBAGENT,
    "subagents/b/sandbox/workspace/copy.txt": "same",
  });
  const bytes = Uint8Array.from({ length: 256 }, (_, index) => index);
  writeFileSync(at("agent/sandbox/workspace/data.bin"), bytes);
  chmodSync(at("agent/sandbox/workspace/run.sh"), 0o755);
  const { manifest, outDir } = await compile();
  const [root, b] = manifest.nodes.map(({ sandbox }) => sandbox!);
  expect(root!.seed.map(({ path, executable }) => [path, executable])).toEqual([
    [".hidden/a b.txt", false],
    ["data.bin", false],
    ["run.sh", true],
  ]);
  for (const folder of [outDir, at("dist")]) {
    const read = (index: number) => readFileSync(join(folder, root!.seed[index]!.file));
    expect(Uint8Array.from(read(1))).toEqual(bytes);
    expect(read(2).toString()).toBe("echo");
    expect(readdirSync(join(folder, "seeds"))).toHaveLength(3);
  }
  expect(b!.seed).toEqual([{ path: "copy.txt", file: root!.seed[0]!.file, executable: false }]);
  expect(root).not.toHaveProperty("source");

  writeFileSync(at("agent/sandbox/workspace/data.bin"), "");
  expect((await compile()).manifest.buildId).not.toBe(manifest.buildId);
});

test("the embedded shell is in a build, apart from the member's code, and not in one for development", async () => {
  const at = create({ "instructions.md": "Help." });
  const { manifest, bytes } = await compile();
  expect(manifest.shell).toBe("shell/worker.mjs");
  expect(existsSync(at("dist/shell/worker.mjs"))).toBe(true);
  const shell = readdirSync(at("dist/shell"));
  const size = shell.reduce((sum, name) => sum + readFileSync(at(`dist/shell/${name}`)).length, 0);
  expect(size).toBeLessThan(1_900_000);
  expect(bytes).toBeLessThan(1_900_000);
  const leftOut = shell.filter((name) => /^(?:undici|sqlite3|turndown|curl|python3|js-exec|flag-coverage)-/.test(name));
  for (const name of leftOut) expect(readFileSync(at(`dist/shell/${name}`)).length).toBeLessThan(1_000);
  for (const name of readdirSync(at("dist/chunks"))) {
    expect(readFileSync(at(`dist/chunks/${name}`), "utf8")).not.toContain("node_modules/just-bash");
  }
  const dev = await compile("dev");
  expect(dev.manifest).not.toHaveProperty("shell");
  expect(existsSync(join(dev.outDir, "shell"))).toBe(false);
});

test("agents that all have another provider need no embedded shell", async () => {
  const own = `import { defineSandbox, localProvider } from "eve/sandbox";\nexport default defineSandbox({ provider: localProvider() });`;
  const at = create({ "sandbox.ts": own, "subagents/b/agent.ts": SUBAGENT, "subagents/b/sandbox/sandbox.ts": own });
  const { manifest } = await compile();
  expect(manifest.nodes.map(({ sandbox }) => sandbox)).toEqual([
    { source: "sandbox.ts", seed: [] },
    { source: "subagents/b/sandbox/sandbox.ts", seed: [] },
  ]);
  expect(manifest).not.toHaveProperty("shell");
  expect(existsSync(at("dist/shell"))).toBe(false);
});

test("a sandbox that is none is said where it stands", async () => {
  create({
    "sandbox.ts": `import { defineSandbox } from "eve/sandbox";\nexport default defineSandbox({\n  provider: { name: "x" },\n});`,
    "subagents/b/agent.ts": SUBAGENT,
    "subagents/b/sandbox.ts": "export default {};",
  });
  const result = await compileMember({ memberDir: workspace.member("a") });
  expect(result.diagnostics.map(({ code, path, line, message }) => [code, path, line, message])).toEqual([
    [
      "OPTION_INVALID",
      "agents/a/agent/sandbox.ts",
      3,
      'defineSandbox takes as "provider" a provider: { name, create, resume, delete }.',
    ],
    ["EXPORT_KIND", "agents/a/agent/subagents/b/sandbox.ts", 1, expect.stringContaining("takes defineSandbox(…)")],
  ]);
});

describe("default tools", () => {
  /** What each node's model sees, and why; without the root's own copy, which is no default tool. */
  async function composed() {
    const { manifest, warnings } = await compile();
    expect(warnings).toEqual([]);
    return manifest.nodes.map(({ composition, tools }) => ({
      seen: composition
        .filter(({ name }) => name !== "agent")
        .map(({ name, visible, reason }) => `${name} ${visible ? "" : "hidden "}${reason}`),
      sources: tools.map(({ source }) => source),
    }));
  }

  test("§8 what the root says at the path of a default never reaches a subagent", async () => {
    create({
      "tools/bash.ts": GOOD_TOOL,
      "tools/write_file.ts": DISABLED,
      "subagents/b/agent.ts": SUBAGENT,
      "subagents/b/subagents/c/agent.ts": SUBAGENT,
      "subagents/b/subagents/c/tools/read_file.ts": DISABLED,
    });
    const [root, b, c] = await composed();
    expect(root).toEqual({
      seen: ["b derived", "bash replaced-at-path", "read_file default", "write_file hidden disabled-at-path"],
      sources: ["tools/bash.ts", "eve/tools/read_file"],
    });
    expect(b).toEqual({
      seen: ["bash default", "c derived", "read_file default", "write_file default"],
      sources: ["eve/tools/bash", "eve/tools/read_file", "eve/tools/write_file"],
    });
    expect(c!.seen).toEqual(["bash default", "read_file hidden disabled-at-path", "write_file default"]);
  });

  test("glob and grep are there when asked for, and a default can be named outright", async () => {
    create({
      "tools/glob.ts": reexport("glob"),
      "tools/grep.ts": reexport("grep"),
      "tools/bash.ts": reexport("bash"),
      "tools/read_file.ts": `import { defineTool } from "eve/tools";\nimport { readFile } from "eve/tools/read_file";\nexport default defineTool({ ...readFile, description: "Ours." });`,
    });
    const [root] = await composed();
    expect(root!.seen).toEqual([
      "bash replaced-at-path",
      "glob authored",
      "grep authored",
      "read_file replaced-at-path",
      "write_file default",
    ]);
  });

  test("a subagent of the name takes the place of a default", async () => {
    create({ "subagents/bash/agent.ts": SUBAGENT });
    const [root, bash] = await composed();
    expect(root!.seen).toEqual(["bash derived", "read_file default", "write_file default"]);
    expect(bash!.seen).toEqual(["bash default", "read_file default", "write_file default"]);
  });
});
