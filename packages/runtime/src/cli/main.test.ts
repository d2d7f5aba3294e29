import { execFile } from "node:child_process";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createFixtureWorkspace, type FixtureWorkspace } from "../discover/fixture-workspace.ts";

const EVE = fileURLToPath(new URL("../../bin/eve.mjs", import.meta.url));

let workspace: FixtureWorkspace;
beforeAll(() => {
  workspace = createFixtureWorkspace({
    "agents/good/agent/agent.ts": `console.log("loading");\nimport { defineAgent } from "eve";\nexport default defineAgent({});`,
    "agents/good/agent/tools/hidden.ts": `import { disableTool } from "eve/tools";\nexport default disableTool();`,
    "agents/bad/agent/agent.ts": "\nexport default 1;",
    "agents/bad/agent/hooks/a.ts": "",
  });
});
afterAll(() => workspace.remove());

interface Run {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

function eve(args: readonly string[], cwd: string): Promise<Run> {
  return new Promise((resolve) => {
    execFile(process.execPath, [EVE, ...args], { cwd }, (error, stdout, stderr) => {
      resolve({ code: error ? Number(error.code) : 0, stdout, stderr });
    });
  });
}

test("build says what it built, and warnings beside it", async () => {
  const { code, stdout, stderr } = await eve(["build"], workspace.member("good"));
  expect(stdout).toMatch(/^built good: 1 agent, 0 tools, [\d,]+ kB in \d+\.\d s\n$/);
  expect(stderr).toContain("warning agents/good/agent/tools/hidden.ts:2 DISABLE_UNUSED ");
  expect(code).toBe(0);
});

test("build prints every error and how many there are", async () => {
  const { code, stdout, stderr } = await eve(["build"], workspace.member("bad"));
  expect(stdout).toBe("");
  expect(stderr.trimEnd().split("\n")).toEqual([
    expect.stringMatching(/^agents\/bad\/agent\/agent\.ts:2 EXPORT_KIND .+ — .+$/),
    expect.stringMatching(/^agents\/bad\/agent\/hooks:1 SLOT_UNSUPPORTED .+ — .+$/),
    "2 errors",
  ]);
  expect(code).toBe(1);
});

test("build --json prints only JSON, whatever authored code prints", async () => {
  const good = await eve(["build", "--json"], workspace.member("good"));
  expect(JSON.parse(good.stdout)).toEqual({
    ok: true,
    diagnostics: [expect.objectContaining({ severity: "warning" })],
  });
  expect(good.stderr).toBe("loading\n");
  expect(good.code).toBe(0);

  const bad = await eve(["build", "--json"], workspace.member("bad"));
  expect(JSON.parse(bad.stdout)).toEqual({
    ok: false,
    diagnostics: [
      {
        severity: "error",
        code: "EXPORT_KIND",
        path: "agents/bad/agent/agent.ts",
        line: 2,
        message: expect.any(String),
        fix: expect.any(String),
      },
      expect.objectContaining({ code: "SLOT_UNSUPPORTED" }),
    ],
  });
  expect(bad.code).toBe(1);
});

test("outside a member, build says what is missing", async () => {
  mkdirSync(join(workspace.root, "empty"));
  const { code, stderr } = await eve(["build"], join(workspace.root, "empty"));
  expect(stderr).toContain("empty:1 AGENT_MISSING");
  expect(code).toBe(1);
});

test.each([
  [["bild"], 'no command "bild"'],
  [["toString"], 'no command "toString"'],
  [["build", "--jsn"], "--jsn"],
  [["build", "foreman"], "foreman"],
])("%j is a usage error", async (args, message) => {
  const { code, stdout, stderr } = await eve(args, workspace.member("good"));
  expect(stderr).toContain(message);
  expect(stderr).toContain("help");
  expect(stdout).toBe("");
  expect(code).toBe(2);
});

test.each([[[]], [["help"]], [["--help"]]])("%j shows the help", async (args) => {
  const { code, stdout } = await eve(args, workspace.root);
  expect(stdout).toContain("eve <command>");
  expect(code).toBe(0);
});
