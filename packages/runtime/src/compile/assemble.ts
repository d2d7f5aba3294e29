import { createHash } from "node:crypto";
import type { DiscoveredMember, DiscoveredNode, NamedModule, Report } from "../discover/index.ts";
import {
  MANIFEST_VERSION,
  manifestSchema,
  type Manifest,
  type ManifestNode,
  type ManifestSubagent,
  type ManifestTool,
} from "../protocol/manifest.ts";
import { composeNode } from "./compose.ts";
import type { DefinitionSummary } from "./evaluate/evaluation.ts";
import { lineOfDefaultExport, readSource } from "./locate.ts";
import type { SeedFiles } from "./seed-files.ts";

export interface AssembleInput {
  readonly member: DiscoveredMember;
  readonly definitions: ReadonlyMap<string, DefinitionSummary>;
  readonly peerDescriptions: ReadonlyMap<string, string>;
  readonly seeds: SeedFiles["seeds"];
  readonly report: Report;
}

/**
 * Builds the nodes of the manifest from what the modules define. Reports what only the whole can tell; its result is
 * complete when nothing was reported.
 */
export function assembleNodes(input: AssembleInput): ManifestNode[] {
  return input.member.nodes.map((node) => assembleNode(node, input));
}

/** The manifest, with an id that is the same for the same definitions and the same bundle. */
export function toManifest(
  member: DiscoveredMember,
  nodes: readonly ManifestNode[],
  files: ReadonlyMap<string, Uint8Array>,
  requiredEnv: readonly string[],
  shell?: string,
): Manifest {
  const channel = member.nodes[0]?.channel;
  const content = {
    version: MANIFEST_VERSION,
    member: member.name,
    nodes,
    ...(channel && { channel: channel.source }),
    ...(requiredEnv.length > 0 && { requiredEnv }),
    ...(shell !== undefined && { shell }),
  };
  const hash = createHash("sha256").update(JSON.stringify(content));
  for (const name of [...files.keys()].sort()) {
    if (!name.endsWith(".map")) hash.update(`\0${name}\0`).update(files.get(name)!);
  }
  return manifestSchema.parse({ ...content, buildId: hash.digest("hex").slice(0, 16) });
}

function assembleNode(node: DiscoveredNode, input: AssembleInput): ManifestNode {
  const { definitions, report } = input;
  const agent = node.agent && definitions.get(node.agent.source);
  const instructions = readInstructions(node, definitions);
  const subagents = [
    ...node.locals.flatMap((local) => toLocal(local.id, input)),
    ...node.references.flatMap((r) => toReference(r, input)),
  ].sort((a, b) => (a.name < b.name ? -1 : 1));
  return {
    id: node.id,
    name: node.name,
    description: agent?.kind === "agent" ? (agent.description ?? "") : "",
    ...(node.agent && { source: node.agent.source }),
    ...instructions,
    modelId: agent?.kind === "agent" ? agent.modelId : "eve/offline",
    ...toSandbox(node, input),
    tools: node.tools.flatMap((tool) => toTool(tool, definitions)),
    subagents,
    composition: composeNode(node, subagents, definitions, report),
  };
}

function readInstructions(
  { instructions }: DiscoveredNode,
  definitions: ReadonlyMap<string, DefinitionSummary>,
): Pick<ManifestNode, "instructions" | "instructionsSource"> {
  if (instructions === undefined) return {};
  if ("text" in instructions) return { instructions: instructions.text };
  const definition = definitions.get(instructions.source);
  return definition?.kind === "text" ? { instructions: definition.text } : { instructionsSource: instructions.source };
}

function toSandbox({ id, sandbox }: DiscoveredNode, { seeds }: AssembleInput): Pick<ManifestNode, "sandbox"> {
  if (sandbox === undefined) return {};
  const { module } = sandbox;
  return { sandbox: { ...(module && { source: module.source }), seed: seeds.get(id) ?? [] } };
}

function toTool({ name, source }: NamedModule, definitions: ReadonlyMap<string, DefinitionSummary>): ManifestTool[] {
  const definition = definitions.get(source);
  if (definition?.kind !== "tool") return [];
  const { description, inputSchema, onInterrupt } = definition;
  return [{ name, source, description, inputSchema, onInterrupt } as ManifestTool];
}

function toLocal(id: string, { member, definitions, report }: AssembleInput): ManifestSubagent[] {
  const node = member.nodes.find((candidate) => candidate.id === id);
  const definition = node?.agent && definitions.get(node.agent.source);
  if (node?.agent === undefined || definition?.kind !== "agent") return [];
  if (definition.description === undefined) {
    const line = lineOfDefaultExport(readSource(node.agent.path));
    const message = `The subagent "${node.name}" has no description.`;
    report(
      "DESCRIPTION_MISSING",
      node.agent.path,
      line,
      message,
      "Set `description`: it tells the calling model what the agent is for.",
    );
  }
  const { description = "", tool } = definition;
  return [{ name: node.name, kind: "local", source: node.agent.source, description, tool, nodeId: id }];
}

function toReference(
  { name, source }: NamedModule,
  { definitions, peerDescriptions }: AssembleInput,
): ManifestSubagent[] {
  const definition = definitions.get(source);
  if (definition?.kind === "remote-agent") {
    return [{ name, kind: "remote", source, description: definition.description, tool: definition.tool }];
  }
  if (definition?.kind !== "workspace-agent") return [];
  const { peer, tool } = definition;
  const description = definition.description ?? peerDescriptions.get(peer) ?? "";
  return [{ name, kind: "peer", source, description, tool, peer }];
}
