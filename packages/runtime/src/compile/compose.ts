import type { DiscoveredNode, NamedModule, Report } from "../discover/index.ts";
import type { Composition, ManifestSubagent } from "../protocol/manifest.ts";
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
  for (const tool of node.tools) {
    const kind = definitions.get(tool.source)?.kind;
    const subagent = agents.get(tool.name);
    if (kind === undefined) continue;
    agents.delete(tool.name);
    if (kind === "disabled-tool") {
      if (subagent === undefined && !declares(node, tool.name) && !isDefaultName(tool.name))
        reportUnused(node, tool, report);
      const hides = subagent === undefined ? "tool" : "agent";
      composition.push({
        name: tool.name,
        visible: false,
        kind: hides,
        reason: "disabled-at-path",
        source: tool.source,
      });
    } else if (subagent === undefined) {
      composition.push({ name: tool.name, visible: true, kind: "tool", reason: reasonOf(tool), source: tool.source });
    } else if (subagent.tool === false) {
      composition.push({
        name: tool.name,
        visible: true,
        kind: "tool",
        reason: "replaced-at-path",
        source: tool.source,
      });
    } else {
      reportCollision(tool, subagent, report);
    }
  }
  for (const subagent of agents.values()) composition.push(derive(subagent));
  return composition.sort((a, b) => (a.name < b.name ? -1 : 1));
}

function reasonOf({ name, source }: NamedModule): Composition["reason"] {
  if (isDefaultTool(source)) return "default";
  return isDefaultName(name) ? "replaced-at-path" : "authored";
}

function derive({ name, tool, source }: ManifestSubagent): Composition {
  const reason = tool === "deferred" ? "deferred" : tool ? "derived" : "tool-false";
  return { name, visible: tool === true, kind: "agent", reason, source };
}

/** Also true for a subagent that is broken, and so in no registry yet. */
function declares(node: DiscoveredNode, name: string): boolean {
  return [...node.locals, ...node.references].some((subagent) => subagent.name === name);
}

function reportUnused(node: DiscoveredNode, tool: NamedModule, report: Report): void {
  if (node.id === "root" && tool.name === "agent") return; // Hides the root's own copy (contract §4).
  const message = `disableTool() hides nothing: no subagent and no default tool is named "${tool.name}".`;
  const line = lineOfDefaultExport(readSource(tool.path));
  report("DISABLE_UNUSED", tool.path, line, message, "Remove the file, or name it like what it is to hide.", "warning");
}

function reportCollision(tool: NamedModule, subagent: ManifestSubagent, report: Report): void {
  const message = `The tool "${tool.name}" and the subagent at ${subagent.source} have the same name.`;
  const fix = "Rename one of them, or set `tool: false` in the subagent to let the tool take its place.";
  report("NAME_COLLISION", tool.path, lineOfDefaultExport(readSource(tool.path)), message, fix);
}
