import { describe, expect, test } from "vitest";
import type { DiscoveredNode, Report } from "../discover/index.ts";
import type { ToolVisibility } from "../protocol/manifest.ts";
import { composeNode } from "./compose.ts";
import type { DefinitionSummary } from "./evaluate/evaluation.ts";

const AUTHORED: DefinitionSummary = {
  kind: "tool",
  description: "d",
  inputSchema: { type: "object" },
  onInterrupt: "retry",
};
const DISABLED: DefinitionSummary = { kind: "disabled-tool" };
const RESTORED: DefinitionSummary = { kind: "root-agent" };

function compose(
  tool: ToolVisibility | undefined,
  file: DefinitionSummary | undefined,
  name = "a",
  id = "root/b",
  agent?: DefinitionSummary,
) {
  const reported: string[] = [];
  const report: Report = (code, path, _line, _message, _fix, severity = "error") =>
    reported.push(`${severity} ${code} ${path}`);
  const source = `tools/${name}.ts`;
  const node: DiscoveredNode = {
    id,
    name: "node",
    dir: "/agent",
    tools: file ? [{ name, source, path: `/agent/${source}` }] : [],
    locals: [],
    references: [],
    ...(agent && { agent: { source: "agent.ts", path: "/agent/agent.ts" } }),
  };
  const subagents =
    tool === undefined
      ? []
      : [{ name, kind: "remote" as const, source: `subagents/${name}.ts`, description: "d", tool }];
  const definitions = new Map<string, DefinitionSummary>();
  if (file) definitions.set(source, file);
  if (agent) definitions.set("agent.ts", agent);
  const composition = composeNode(node, subagents, definitions, report);
  return {
    decisions: composition.map((c) => `${c.visible ? "visible" : "hidden"} ${c.kind} ${c.reason} ${c.source}`),
    reported,
  };
}

// The static rows of the table in contract §4.
test.each([
  [true, undefined, "visible agent derived subagents/a.ts"],
  [true, DISABLED, "hidden agent disabled-at-path tools/a.ts"],
  [false, undefined, "hidden agent tool-false subagents/a.ts"],
  [false, DISABLED, "hidden agent disabled-at-path tools/a.ts"],
  [false, AUTHORED, "visible tool replaced-at-path tools/a.ts"],
  ["deferred", undefined, "hidden agent deferred subagents/a.ts"],
  ["deferred", DISABLED, "hidden agent disabled-at-path tools/a.ts"],
  [undefined, AUTHORED, "visible tool authored tools/a.ts"],
] as const)("tool: %s beside %o", (tool, file, decision) => {
  expect(compose(tool, file)).toEqual({ decisions: [decision], reported: [] });
});

test.each([true, "deferred"] as const)("an authored tool collides with a subagent of tool: %s", (tool) => {
  expect(compose(tool, AUTHORED)).toEqual({ decisions: [], reported: ["error NAME_COLLISION /agent/tools/a.ts"] });
});

test("disableTool() that hides nothing is a warning, also in the agent slot of a subagent", () => {
  const decisions = ["hidden tool disabled-at-path tools/a.ts"];
  expect(compose(undefined, DISABLED)).toEqual({ decisions, reported: ["warning DISABLE_UNUSED /agent/tools/a.ts"] });
  expect(compose(undefined, DISABLED, "agent").reported).toEqual(["warning DISABLE_UNUSED /agent/tools/agent.ts"]);
});

describe("the root's own copy", () => {
  const composeRoot = (tool: ToolVisibility | undefined, file: DefinitionSummary | undefined) => {
    const agent = { kind: "agent" as const, modelId: "m", tool: tool ?? true };
    return compose(undefined, file, "agent", "root", tool === undefined ? undefined : agent);
  };

  test.each([
    [undefined, undefined, "visible agent derived agent.ts"],
    [true, undefined, "visible agent derived agent.ts"],
    ["deferred", undefined, "hidden agent deferred agent.ts"],
    [false, undefined, "hidden agent tool-false agent.ts"],
    ...([true, "deferred", false] as const).flatMap((tool) => [
      [tool, AUTHORED, "visible tool replaced-at-path tools/agent.ts"] as const,
      [tool, DISABLED, "hidden agent disabled-at-path tools/agent.ts"] as const,
      [tool, RESTORED, "visible agent restored-at-path tools/agent.ts"] as const,
    ]),
  ] as const)("tool: %s beside %o", (tool, file, decision) => {
    expect(composeRoot(tool, file)).toEqual({ decisions: [decision], reported: [] });
  });

  test("is decided on beside the root's subagents", () => {
    expect(compose(true, undefined, "a", "root").decisions).toEqual([
      "visible agent derived subagents/a.ts",
      "visible agent derived agent.ts",
    ]);
  });

  test("a subagent has none: to restore it there is nothing but a warning", () => {
    expect(compose(undefined, undefined).decisions).toEqual([]);
    expect(compose(undefined, RESTORED, "agent")).toEqual({
      decisions: [],
      reported: ["warning ROOT_AGENT_UNUSED /agent/tools/agent.ts"],
    });
  });
});
