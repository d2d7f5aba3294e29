import type { Composition, ManifestSubagent, ManifestTool } from "./manifest.ts";

/** What `GET <base>/info` answers: named fields of the manifest (PROTOCOL, Routes). */
export interface AgentInfo {
  readonly kind: "eve-agent-info";
  readonly member: string;
  readonly buildId: string;
  readonly mode: "development" | "production";
  readonly store: { readonly durable: boolean };
  /** The root agent first. */
  readonly agents: readonly AgentInfoNode[];
}

export interface AgentInfoNode {
  /** `root`, or the path of names below it: `root/reviewer`. */
  readonly id: string;
  readonly name: string;
  readonly description: string;
  readonly model: { readonly configured: string; readonly active: string; readonly note?: string };
  readonly tools: readonly Pick<ManifestTool, "name" | "description" | "source">[];
  readonly subagents: readonly Omit<ManifestSubagent, "nodeId">[];
  readonly composition: readonly Composition[];
}
