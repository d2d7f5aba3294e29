import { expect, test } from "vitest";
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

function compose(tool: ToolVisibility | undefined, file: DefinitionSummary | undefined, name = "a", id = "root") {
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
  };
  const subagents =
    tool === undefined
      ? []
      : [{ name, kind: "remote" as const, source: `subagents/${name}.ts`, description: "d", tool }];
  const composition = composeNode(node, subagents, new Map(file ? [[source, file]] : []), report);
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

test("disableTool() that hides nothing is a warning, except on the root's own agent slot", () => {
  const decisions = ["hidden tool disabled-at-path tools/a.ts"];
  expect(compose(undefined, DISABLED)).toEqual({ decisions, reported: ["warning DISABLE_UNUSED /agent/tools/a.ts"] });
  expect(compose(undefined, DISABLED, "agent").reported).toEqual([]);
  expect(compose(undefined, DISABLED, "agent", "root/a").reported).toEqual([
    "warning DISABLE_UNUSED /agent/tools/agent.ts",
  ]);
});
