import type { ModelFacts } from "../models/resolve-model.ts";
import type { AgentInfo, AgentInfoNode } from "../protocol/agent-info.ts";
import type { Manifest, ManifestNode } from "../protocol/manifest.ts";

/** What `GET <base>/info` answers: named fields of the manifest only, so that nothing else ever shows. */
export function toAgentInfo(
  manifest: Manifest,
  {
    modelFacts,
    mode,
    durable,
  }: {
    readonly modelFacts: (nodeId: string) => ModelFacts;
    readonly mode: "development" | "production";
    readonly durable: boolean;
  },
): AgentInfo {
  return {
    kind: "eve-agent-info",
    member: manifest.member,
    buildId: manifest.buildId,
    mode,
    store: { durable },
    agents: manifest.nodes.map((node) => toNodeInfo(node, modelFacts(node.id))),
  };
}

function toNodeInfo(node: ManifestNode, model: ModelFacts): AgentInfoNode {
  const { id, name, description, modelId } = node;
  return {
    id,
    name,
    description,
    model: {
      configured: modelId,
      active: model.modelId,
      ...(model.reasoning === undefined ? {} : { reasoning: model.reasoning }),
      ...(model.offline ? { note: "No model credential is set: the embedded offline model answers." } : {}),
    },
    tools: node.tools.map((tool) => ({ name: tool.name, description: tool.description, source: tool.source })),
    subagents: node.subagents.map((subagent) => ({
      name: subagent.name,
      kind: subagent.kind,
      description: subagent.description,
      tool: subagent.tool,
      source: subagent.source,
      ...(subagent.peer === undefined ? {} : { peer: subagent.peer }),
    })),
    composition: node.composition.map(({ name, visible, kind, reason, source }) => ({
      name,
      visible,
      kind,
      reason,
      source,
    })),
  };
}
