import type { DiscoveredNode, NamedModule, Report } from "../discover/index.ts";
import { ROOT_AGENT, type Composition, type ManifestSubagent } from "../protocol/manifest.ts";
import { isDefaultName, isDefaultTool } from "./default-tools.ts";
import type { DefinitionSummary } from "./evaluate/evaluation.ts";
import { lineOfDefaultExport, readSource } from "./locate.ts";

/**
 * Decides for every name of a node what its model sees: the table of contract §4. Entries are sorted by name.
 * Reports `NAME_COLLISION` where the table says so.
 */
export function composeNode(
  node: DiscoveredNode,
  subagents: readonly ManifestSubagent[],
  definitions: ReadonlyMap<string, DefinitionSummary>,
  report: Report,
): Composition[] {
  const agents = new Map(subagents.map((subagent) => [subagent.name, subagent]));
  const composition: Composition[] = [];
  const isRoot = node.id === "root";
  if (isRoot) composition.push(composeCopy(node, definitions));
  for (const tool of node.tools) {
    const kind = definitions.get(tool.source)?.kind;
    if (kind === undefined || (isRoot && tool.name === ROOT_AGENT)) continue;
    const subagent = agents.get(tool.name);
    agents.delete(tool.name);
    const { name, source } = tool;
    if (kind === "root-agent") {
      reportNoCopy(tool, report);
    } else if (kind === "disabled-tool") {
      if (subagent === undefined && !declares(node, name) && !isDefaultName(name)) reportUnused(tool, report);
      const hides = subagent === undefined ? "tool" : "agent";
      composition.push({ name, visible: false, kind: hides, reason: "disabled-at-path", source });
    } else if (subagent === undefined) {
      composition.push({ name, visible: true, kind: "tool", reason: reasonOf(tool), source });
    } else if (subagent.tool === false) {
      composition.push({ name, visible: true, kind: "tool", reason: "replaced-at-path", source });
    } else {
      reportCollision(tool, subagent, report);
    }
  }
  for (const subagent of agents.values()) composition.push(derive(subagent));
  return composition.sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** The root's own copy: a file at its path decides, else `tool` of `agent.ts` (contract §4, below the table). */
function composeCopy(node: DiscoveredNode, definitions: ReadonlyMap<string, DefinitionSummary>): Composition {
  const name = ROOT_AGENT;
  const file = node.tools.find((tool) => tool.name === name);
  const source = file?.source ?? "";
  switch (file && definitions.get(file.source)?.kind) {
    case "tool":
      return { name, visible: true, kind: "tool", reason: "replaced-at-path", source };
    case "disabled-tool":
      return { name, visible: false, kind: "agent", reason: "disabled-at-path", source };
    case "root-agent":
      return { name, visible: true, kind: "agent", reason: "restored-at-path", source };
  }
  const agent = node.agent && definitions.get(node.agent.source);
  const tool = agent?.kind === "agent" ? agent.tool : true;
  return derive({ name, tool, source: node.agent?.source ?? "agent.ts" });
}

function reasonOf({ name, source }: NamedModule): Composition["reason"] {
  if (isDefaultTool(source)) return "default";
  return isDefaultName(name) ? "replaced-at-path" : "authored";
}

function derive({ name, tool, source }: Pick<ManifestSubagent, "name" | "tool" | "source">): Composition {
  const reason = tool === "deferred" ? "deferred" : tool ? "derived" : "tool-false";
  return { name, visible: tool === true, kind: "agent", reason, source };
}

/** Also true for a subagent that is broken, and so in no registry yet. */
function declares(node: DiscoveredNode, name: string): boolean {
  return [...node.locals, ...node.references].some((subagent) => subagent.name === name);
}

function reportUnused(tool: NamedModule, report: Report): void {
  const message = `disableTool() hides nothing: no subagent and no default tool is named "${tool.name}".`;
  const fix = "Remove the file, or name it like what it is to hide.";
  report("DISABLE_UNUSED", tool.path, lineOfDefaultExport(readSource(tool.path)), message, fix, "warning");
}

function reportNoCopy(tool: NamedModule, report: Report): void {
  const message = "eve/tools/agent does nothing here: only the root agent has a copy of itself to call.";
  const fix = "Remove the file: a subagent does a part of its work itself.";
  report("ROOT_AGENT_UNUSED", tool.path, lineOfDefaultExport(readSource(tool.path)), message, fix, "warning");
}

function reportCollision(tool: NamedModule, subagent: ManifestSubagent, report: Report): void {
  const message = `The tool "${tool.name}" and the subagent at ${subagent.source} have the same name.`;
  const fix = "Rename one of them, or set `tool: false` in the subagent to let the tool take its place.";
  report("NAME_COLLISION", tool.path, lineOfDefaultExport(readSource(tool.path)), message, fix);
}
