import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { discoverMember, discoverWorkspace, formatDiagnostic } from "./index.ts";
import { createFixtureWorkspace, type FixtureWorkspace } from "./fixture-workspace.ts";

let workspace: FixtureWorkspace;
afterEach(() => workspace.remove());

function discover(agentFiles: Record<string, string>, member = "foreman") {
  const files = Object.entries(agentFiles).map(([path, text]) => [`agents/${member}/agent/${path}`, text]);
  workspace = createFixtureWorkspace(Object.fromEntries(files));
  return discoverMember({ memberDir: workspace.member(member), base: workspace.root });
}

function codes(agentFiles: Record<string, string>, member?: string): string[] {
  return discover(agentFiles, member).diagnostics.map(({ code, path }) => `${code} ${path}`);
}

test("reads every slot into nodes, root first, with paths below agent/", () => {
  const { nodes, diagnostics, name } = discover({
    "agent.ts": "",
    "instructions.md": "\nLead.\n",
    "lib/deep/plain.ts": "",
    "tools/b.ts": "",
    "tools/a_1.ts": "",
    "channels/eve.ts": "",
    "subagents/peer.ts": "",
    "subagents/reviewer/agent.ts": "",
    "subagents/reviewer/instructions.ts": "",
    "subagents/reviewer/lib/plain.ts": "",
    "subagents/reviewer/subagents/nested/agent.ts": "",
    "subagents/reviewer/subagents/nested/tools/c.ts": "",
  });
  expect(diagnostics).toEqual([]);
  expect(name).toBe("foreman");
  expect(nodes.map(({ id }) => id)).toEqual(["root", "root/reviewer", "root/reviewer/nested"]);
  const [root, reviewer, nested] = nodes;
  expect(root!.name).toBe("foreman");
  expect(root!.agent?.source).toBe("agent.ts");
  expect(root!.instructions).toEqual({ text: "Lead." });
  expect(root!.channel?.source).toBe("channels/eve.ts");
  expect(root!.tools.map(({ name, source }) => [name, source])).toEqual([
    ["a_1", "tools/a_1.ts"],
    ["b", "tools/b.ts"],
  ]);
  expect(root!.references.map(({ source }) => source)).toEqual(["subagents/peer.ts"]);
  expect(reviewer!.instructions).toMatchObject({ source: "subagents/reviewer/instructions.ts" });
  expect(nested!.tools[0]!.source).toBe("subagents/reviewer/subagents/nested/tools/c.ts");
});

test("a root needs nothing at all, a subagent folder needs agent.ts", () => {
  expect(codes({ "lib/x.ts": "" })).toEqual([]);
  workspace.remove();
  expect(codes({ "subagents/a/instructions.md": "x" })).toEqual(["AGENT_MISSING agents/foreman/agent/subagents/a"]);
});

test("ignores test files, dot files and folders that hold nothing else", () => {
  const { diagnostics, nodes } = discover({
    ".hidden.ts": "",
    "agent.test.ts": "",
    "tools/a.spec.ts": "",
    "tools/.DS_Store": "",
    "tools/__snapshots__/a.test.ts.snap": "",
    "subagents/gone/.gitkeep": "",
  });
  expect(diagnostics).toEqual([]);
  expect(nodes).toHaveLength(1);
  expect(nodes[0]!.tools).toEqual([]);
});

test("says which slots this version does not support, once each", () => {
  expect(
    codes({
      "channels/slack.ts": "",
      "connections/a.ts": "",
      "extensions/crm.ts": "",
      "hooks/a.ts": "",
      "hooks/b.ts": "",
      "schedules/daily.md": "",
      "skills/a/SKILL.md": "",
      "subagents/a/agent.ts": "",
      "subagents/a/hooks/a.ts": "",
    }),
  ).toEqual(
    ["channels/slack.ts", "connections", "extensions", "hooks", "schedules", "skills", "subagents/a/hooks"].map(
      (path) => `SLOT_UNSUPPORTED agents/foreman/agent/${path}`,
    ),
  );
});

test.each([
  ["agent.js"],
  ["README.md"],
  ["tool.ts"],
  ["tools.ts"],
  ["lib.ts"],
  ["skills.ts"],
  ["tools/deep/a.ts"],
  ["tools/a.js"],
  ["tools/a.d.ts"],
  ["subagents/a.md"],
  ["channels/eve.js"],
  ["prompts/a.md"],
  ["instructions"],
  ["agent.ts/index.ts"],
])("%s is no slot", (path) => {
  const [first, ...more] = codes({ [path]: "" });
  expect(more).toEqual([]);
  expect(first).toMatch(/^SLOT_UNKNOWN agents\/foreman\/agent\/./);
});

test.each(["channels/eve.ts", "schedules/daily.ts"])("%s is refused in a subagent", (path) => {
  const { diagnostics } = discover({ "subagents/a/agent.ts": "", [`subagents/a/${path}`]: "" });
  const slot = path.split("/")[0]!;
  expect(diagnostics).toHaveLength(1);
  expect(diagnostics[0]).toMatchObject({ code: "SLOT_ROOT_ONLY", path: `agents/foreman/agent/subagents/a/${slot}` });
  expect(diagnostics[0]!.fix).toContain(`agent/${slot}/`);
});

test("two files for one slot are an error, in every node", () => {
  expect(
    codes({
      "instructions.md": "a",
      "instructions.ts": "",
      "subagents/x.ts": "",
      "subagents/x/agent.ts": "",
      "subagents/x/instructions.md": "a",
      "subagents/x/instructions.ts": "",
    }),
  ).toEqual([
    "SLOT_DUPLICATE agents/foreman/agent/instructions.ts",
    "SLOT_DUPLICATE agents/foreman/agent/subagents/x.ts",
    "SLOT_DUPLICATE agents/foreman/agent/subagents/x/instructions.ts",
  ]);
});

test("empty instructions are an error", () => {
  expect(codes({ "instructions.md": " \n" })).toEqual(["INSTRUCTIONS_EMPTY agents/foreman/agent/instructions.md"]);
});

test("names of tools and subagents are checked, also in nested nodes", () => {
  expect(
    codes({
      "tools/lookUp.ts": "",
      "tools/agent.ts": "",
      "subagents/eve.ts": "",
      "subagents/a/agent.ts": "",
      "subagents/a/subagents/agent/agent.ts": "",
      "subagents/a/subagents/b__c.ts": "",
    }),
  ).toEqual([
    "NAME_INVALID agents/foreman/agent/subagents/eve.ts",
    "NAME_INVALID agents/foreman/agent/tools/lookUp.ts",
    "NAME_INVALID agents/foreman/agent/subagents/a/subagents/agent",
    "NAME_INVALID agents/foreman/agent/subagents/a/subagents/b__c.ts",
  ]);
});

test("a member needs a valid name, agent/ and a readable package.json", () => {
  workspace = createFixtureWorkspace({ "agents/My_Team/package.json": "{" });
  const { diagnostics } = discoverMember({ memberDir: workspace.member("My_Team"), base: workspace.root });
  expect(diagnostics.map(({ code, path }) => `${code} ${path}`)).toEqual([
    "NAME_INVALID agents/My_Team",
    "PACKAGE_INVALID agents/My_Team/package.json",
    "AGENT_MISSING agents/My_Team",
  ]);
  expect(diagnostics[0]!.fix).toContain('"my-team"');
});

test("a member without package.json is told to have one", () => {
  workspace = createFixtureWorkspace({});
  mkdirSync(join(workspace.root, "agents/foreman/agent"), { recursive: true });
  const { diagnostics } = discoverMember({ memberDir: workspace.member("foreman"), base: workspace.root });
  expect(diagnostics.map(formatDiagnostic)).toEqual([
    "agents/foreman/package.json:1 PACKAGE_INVALID A member needs its own package.json. — " +
      "Create it with a name and its dependencies, at least eve.",
  ]);
});

test("finds the workspace from anywhere inside it and lists its members sorted", () => {
  workspace = createFixtureWorkspace({
    "agents/research/agent/agent.ts": "",
    "agents/foreman/agent/tools/a.ts": "",
    "agents/notes/readme.md": "",
    "agents/loose.ts": "",
  });
  const found = discoverWorkspace(join(workspace.root, "agents/foreman/agent/tools"));
  expect(found?.root).toBe(workspace.root);
  expect(found?.members.map(({ name }) => name)).toEqual(["foreman", "research"]);
});

test("agents/ without a member, or without pnpm-workspace.yaml beside it, makes no workspace", () => {
  workspace = createFixtureWorkspace({ "agents/notes/readme.md": "", "inner/agents/a/agent/agent.ts": "" });
  expect(discoverWorkspace(join(workspace.root, "inner/agents/a"))).toBeUndefined();
});
