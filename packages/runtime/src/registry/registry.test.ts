import { describe, expect, test } from "vitest";
import { z } from "zod";
import {
  defineAgent,
  defineInstructions,
  defineRemoteAgent,
  defineTool,
  defineWorkspaceAgent,
} from "../define/index.ts";
import { agentToolDescription, AGENT_TOOL_SCHEMA, COPY_DESCRIPTION } from "../engine/text.ts";
import type { Composition, Manifest, ManifestNode } from "../protocol/manifest.ts";
import { projectTools } from "./projection.ts";
import { createRegistry, type Modules } from "./registry.ts";

const entry = (
  name: string,
  kind: Composition["kind"],
  visible: boolean,
  reason: Composition["reason"] = "derived",
): Composition => ({ name, kind, visible, reason, source: `${name}.ts` });
const subagent = (name: string, kind: "local" | "remote" | "peer") => ({
  name,
  kind,
  source: `subagents/${name}.ts`,
  description: `The ${name}.`,
  tool: true,
  ...(kind === "local" ? { nodeId: `root/${name}` } : {}),
  ...(kind === "peer" ? { peer: "far" } : {}),
});
const node = (id: string, more: Partial<ManifestNode> = {}): ManifestNode => ({
  id,
  name: id,
  description: "",
  modelId: "m",
  tools: [],
  subagents: [],
  composition: [],
  ...more,
});

const TOOL = {
  name: "add",
  source: "tools/add.ts",
  description: "Adds.",
  inputSchema: { type: "object" },
  onInterrupt: "retry",
} as const;
const MODULES: Modules = {
  "agent.ts": defineAgent({ model: "a/b" }),
  "instructions.ts": defineInstructions("Lead."),
  "tools/add.ts": defineTool({ description: "Adds.", inputSchema: z.object({}), execute: () => 1 }),
  "subagents/weather.ts": defineRemoteAgent({ url: "https://x.example", description: "Weather." }),
  "subagents/research.ts": defineWorkspaceAgent({ name: "far" }),
};

function manifest(root: Partial<ManifestNode>): Manifest {
  return { version: 1, member: "lead", buildId: "b", nodes: [node("root", root), node("root/helper")] };
}

describe("createRegistry", () => {
  const full = manifest({
    source: "agent.ts",
    instructionsSource: "instructions.ts",
    tools: [TOOL],
    subagents: [subagent("helper", "local"), subagent("weather", "remote"), subagent("research", "peer")],
  });

  test("joins the manifest with its modules", () => {
    const registry = createRegistry(full, MODULES);
    expect(registry.root).toMatchObject({ model: "a/b", instructions: "Lead." });
    expect([...registry.root.subagents].map(([name, { kind }]) => [name, kind])).toEqual([
      ["helper", "local"],
      ["weather", "remote"],
      ["research", "peer"],
    ]);
    expect(registry.remote("subagents/research.ts")).toMatchObject({ kind: "peer", peer: "far" });
    expect(registry.remote("subagents/helper.ts")).toBeUndefined();
    expect(registry.node("root/helper").tools.size).toBe(0);
  });

  test.each(["agent.ts", "instructions.ts", "tools/add.ts", "subagents/weather.ts", "subagents/research.ts"])(
    "a bundle without %s is of another build",
    (source) => {
      const { [source]: _, ...rest } = MODULES;
      expect(() => createRegistry(full, rest)).toThrow(
        expect.objectContaining({ code: "CONFIG_INVALID", message: expect.stringContaining(source) }),
      );
      expect(() => createRegistry(full, { ...MODULES, [source]: {} })).toThrow(
        expect.objectContaining({ code: "CONFIG_INVALID" }),
      );
    },
  );

  test("a node that this build does not have is SUBAGENT_UNAVAILABLE", () => {
    const { node: find } = createRegistry(full, MODULES);
    for (const id of ["root/gone", "__proto__", ""])
      expect(() => find(id)).toThrow(expect.objectContaining({ code: "SUBAGENT_UNAVAILABLE" }));
  });
});

describe("§4 the projection", () => {
  const project = (composition: Composition[]) =>
    projectTools(
      createRegistry(
        manifest({
          tools: [TOOL],
          subagents: [subagent("helper", "local"), subagent("weather", "remote")],
          composition,
        }),
        MODULES,
      ).root,
      { origin: { kind: "root" } },
    );

  test("holds what the build made visible, and nothing else", () => {
    expect([
      ...project([
        entry("add", "tool", true, "authored"),
        entry("helper", "agent", true),
        entry("weather", "agent", false, "tool-false"),
      ]).keys(),
    ]).toEqual(["add", "helper", "eve__task_wait", "eve__task_cancel"]);
    expect(project([]).size).toBe(0);
  });

  test("§6.8 what a model can do with its tasks is there only when it may start some", () => {
    const names = (composition: Composition[]): string[] => [...project(composition).keys()];
    expect(names([entry("add", "tool", true, "authored")])).toEqual(["add"]);
    expect(names([entry("helper", "agent", false, "tool-false")])).toEqual([]);
    expect(names([entry("weather", "agent", true)])).toEqual(["weather", "eve__task_wait", "eve__task_cancel"]);
  });

  test("§5.1, §5.2 an agent is a tool of one schema that says what it does not see", () => {
    expect(project([entry("helper", "agent", true)]).get("helper")).toMatchObject({
      description: agentToolDescription("The helper."),
      inputSchema: AGENT_TOOL_SCHEMA,
      target: { kind: "agent", subagent: { kind: "local", nodeId: "root/helper" } },
    });
    expect(AGENT_TOOL_SCHEMA).toMatchObject({ required: ["message"], additionalProperties: false });
  });

  describe("§7 the root's own copy", () => {
    const TOP = { origin: { kind: "root" } } as const;
    const COPY = { origin: { kind: "local", parentSessionId: "ses_1", taskId: "agent-1" } } as const;
    const copyOf = (root: Partial<ManifestNode>) => {
      const composition = [entry("agent", "agent", true), entry("helper", "agent", true)];
      return createRegistry(manifest({ subagents: [subagent("helper", "local")], composition, ...root }), MODULES);
    };

    test("is there for the sessions that no other one of the member opened", () => {
      const { root } = copyOf({});
      for (const session of [TOP, { origin: { kind: "remote" } } as const])
        expect(projectTools(root, session).get("agent")?.target).toMatchObject({
          kind: "agent",
          subagent: { kind: "local", nodeId: "root" },
        });
      expect([...projectTools(root, COPY).keys()]).toEqual(["helper", "eve__task_wait", "eve__task_cancel"]);
    });

    test("no subagent has it", () => {
      const { node } = copyOf({});
      expect(node("root/helper").copy).toBeUndefined();
    });

    test("a tool of that name is a copy's, too", () => {
      const tools = [{ ...TOOL, name: "agent" }];
      const { root } = copyOf({ tools, composition: [entry("agent", "tool", true, "replaced-at-path")] });
      for (const session of [TOP, COPY])
        expect(projectTools(root, session).get("agent")?.target).toMatchObject({ kind: "tool" });
    });

    test("hidden it is still in the registry", () => {
      const { root } = copyOf({ composition: [entry("agent", "agent", false, "tool-false")] });
      expect([...projectTools(root, TOP).keys()]).toEqual([]);
      expect(root.copy).toMatchObject({ kind: "local", nodeId: "root" });
    });

    test("§5.2 is described as the root is, or in neutral words", () => {
      const described = (description: string) =>
        projectTools(copyOf({ description }).root, TOP).get("agent")?.description;
      expect(described("Leads.")).toBe(agentToolDescription("Leads."));
      expect(described("")).toBe(agentToolDescription(COPY_DESCRIPTION));
    });
  });

  test("an entry for something that is not there shows nothing", () => {
    expect(
      project([entry("gone", "tool", true), entry("helper", "tool", true), entry("add", "agent", true)]).size,
    ).toBe(0);
  });
});

test.each([
  [undefined, 115_200],
  [{}, 115_200],
  [{ modelContextWindowTokens: 10_000 }, 9_000],
  [{ modelContextWindowTokens: 10_000, compaction: { thresholdPercent: 0.5 } }, 5_000],
  [{ compaction: false as const }, undefined],
])("§16 an agent of %j shortens its history at %j tokens", (options, compactAt) => {
  const root = options === undefined ? node("root") : node("root", { source: "agent.ts" });
  const manifest: Manifest = { version: 1, member: "lead", buildId: "b", nodes: [root] };
  const registry = createRegistry(manifest, { "agent.ts": defineAgent(options ?? {}) });
  expect(registry.root.compactAt).toBe(compactAt);
});
