import { chmodSync, symlinkSync, truncateSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { createFixtureWorkspace, type FixtureWorkspace } from "./fixture-workspace.ts";
import { discoverMember, formatDiagnostic } from "./index.ts";

let workspace: FixtureWorkspace;
afterEach(() => workspace.remove());

function create(agentFiles: Record<string, string>) {
  const files = Object.entries(agentFiles).map(([path, text]) => [`agents/a/agent/${path}`, text]);
  workspace = createFixtureWorkspace(Object.fromEntries(files));
  return (path: string) => join(workspace.member("a"), "agent", path);
}

function discover() {
  const { nodes, diagnostics } = discoverMember({ memberDir: workspace.member("a"), base: workspace.root });
  return { nodes, errors: diagnostics.map(formatDiagnostic) };
}

test("a seed is every file of sandbox/workspace/, of each node its own", () => {
  const at = create({
    "sandbox/sandbox.ts": "",
    "sandbox/workspace/run.sh": "echo",
    "sandbox/workspace/.env.example": "A=1",
    "sandbox/workspace/test/a.test.js": "",
    "sandbox/workspace/sandbox.ts": "",
    "subagents/b/agent.ts": "",
    "subagents/b/sandbox/workspace/notes.md": "",
    "subagents/c/agent.ts": "",
    "subagents/c/sandbox.ts": "",
  });
  chmodSync(at("sandbox/workspace/run.sh"), 0o755);
  const { nodes, errors } = discover();
  expect(errors).toEqual([]);
  const [root, b, c] = nodes.map(({ sandbox }) => sandbox!);
  expect(root!.module?.source).toBe("sandbox/sandbox.ts");
  expect(root!.seed.map(({ path, executable }) => [path, executable])).toEqual([
    [".env.example", false],
    ["run.sh", true],
    ["sandbox.ts", false],
    ["test/a.test.js", false],
  ]);
  expect(b).toEqual({
    seed: [{ path: "notes.md", file: at("subagents/b/sandbox/workspace/notes.md"), executable: false }],
  });
  expect(c).toMatchObject({ module: { source: "subagents/c/sandbox.ts" }, seed: [] });
});

test("one form or the other, and nothing else in sandbox/", () => {
  create({ "sandbox.ts": "", "sandbox/sandbox.ts": "", "sandbox/data.csv": "", "sandbox/workspace/a": "" });
  expect(discover().errors).toEqual([
    "agents/a/agent/sandbox/data.csv:1 SLOT_UNKNOWN data.csv does not belong here: sandbox/ holds sandbox.ts and workspace/. — Move it to workspace/, if the sandbox begins with it, or to lib/.",
    "agents/a/agent/sandbox.ts:1 SLOT_DUPLICATE sandbox.ts and sandbox/ fill the same slot. — Move sandbox.ts into sandbox/, or remove one of the two.",
  ]);
});

test("a link is no seed, wherever it leads", () => {
  const at = create({ "sandbox/workspace/a": "a", "secret.txt": "" });
  symlinkSync("/etc/passwd", at("sandbox/workspace/out"));
  symlinkSync("a", at("sandbox/workspace/in"));
  symlinkSync("../..", at("sandbox/workspace/up"), "dir");
  const { nodes, errors } = discover();
  expect(errors.filter((error) => error.includes("SEED_INVALID")).map((error) => error.split(" ")[0])).toEqual([
    "agents/a/agent/sandbox/workspace/in:1",
    "agents/a/agent/sandbox/workspace/out:1",
    "agents/a/agent/sandbox/workspace/up:1",
  ]);
  expect(nodes[0]!.sandbox!.seed.map(({ path }) => path)).toEqual(["a"]);
});

test("a seed that is too large names its size and its largest file", () => {
  const at = create({ "sandbox/workspace/small": "a", "sandbox/workspace/deep/big.bin": "" });
  truncateSync(at("sandbox/workspace/deep/big.bin"), 11 * 1024 * 1024);
  expect(discover().errors).toEqual([
    "agents/a/agent/sandbox/workspace:1 SEED_TOO_LARGE The seed has 11.0 MiB in 2 files, the largest deep/big.bin; at most 10 MiB in 1000 files are copied into a sandbox. — Remove what an agent does not begin with, or fetch it in a tool.",
  ]);
});
