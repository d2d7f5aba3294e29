import type { LanguageModel } from "ai";
import { kindOf } from "../define/brand.ts";
import type { AgentDefinition, AgentLimits } from "../define/define-agent.ts";
import type { InstructionsDefinition } from "../define/define-instructions.ts";
import type { ModelOptions, Reasoning } from "../define/model-options.ts";
import type { RemoteAgentDefinition } from "../define/define-remote-agent.ts";
import type { SandboxDefinition } from "../define/define-sandbox.ts";
import type { ToolDefinition } from "../define/define-tool.ts";
import type { WorkspaceAgentDefinition } from "../define/define-workspace-agent.ts";
import { AgentError } from "../errors.ts";
import { COPY_DESCRIPTION } from "../engine/text.ts";
import {
  ROOT_AGENT,
  type Manifest,
  type ManifestNode,
  type ManifestSubagent,
  type ManifestTool,
} from "../protocol/manifest.ts";

/** Default export of every authored module, by its path below `agent/`. */
export type Modules = Readonly<Record<string, unknown>>;

export interface RegisteredTool {
  readonly manifest: ManifestTool;
  readonly definition: ToolDefinition;
}

/** A subagent that a node may call, whether its model sees it or not. */
export type RegisteredSubagent =
  | { readonly kind: "local"; readonly manifest: ManifestSubagent; readonly nodeId: string }
  | { readonly kind: "remote"; readonly manifest: ManifestSubagent; readonly definition: RemoteAgentDefinition }
  | {
      readonly kind: "peer";
      readonly manifest: ManifestSubagent;
      readonly peer: string;
      readonly definition: WorkspaceAgentDefinition;
    };

export interface RegisteredNode {
  readonly manifest: ManifestNode;
  readonly model: LanguageModel | undefined;
  /** Tokens of a prompt from which on its history is to be shortened; absent: never. */
  readonly compactAt?: number;
  readonly reasoning?: Reasoning;
  readonly modelOptions?: ModelOptions;
  readonly instructions: string | undefined;
  readonly limits: AgentLimits;
  /** Absent: the embedded shell, with the seed that the manifest names. */
  readonly sandbox?: SandboxDefinition;
  readonly tools: ReadonlyMap<string, RegisteredTool>;
  readonly subagents: ReadonlyMap<string, RegisteredSubagent>;
  /** The root only: itself, which its top-level sessions may call (contract §7). */
  readonly copy?: RegisteredSubagent;
}

export interface Registry {
  readonly manifest: Manifest;
  readonly root: RegisteredNode;
  node(nodeId: string): RegisteredNode;
  /** The remote or peer that was declared in `source`. */
  remote(source: string): Exclude<RegisteredSubagent, { kind: "local" }> | undefined;
}

/**
 * Joins the manifest with the modules of its bundle: everything that can be called, by node (contract §4).
 *
 * @throws AgentError `CONFIG_INVALID` when manifest and bundle are not of the same build.
 */
export function createRegistry(manifest: Manifest, modules: Modules): Registry {
  const nodes = new Map(manifest.nodes.map((node) => [node.id, register(node, modules)]));
  const remotes = new Map<string, Exclude<RegisteredSubagent, { kind: "local" }>>();
  for (const node of nodes.values()) {
    for (const subagent of node.subagents.values()) {
      if (subagent.kind !== "local") remotes.set(subagent.manifest.source, subagent);
    }
  }
  const node = (nodeId: string): RegisteredNode => {
    const found = nodes.get(nodeId);
    if (found === undefined) {
      throw new AgentError("SUBAGENT_UNAVAILABLE", `This build has no agent "${nodeId}".`, {
        fix: "Start a new session: the agent of this one was removed or renamed.",
      });
    }
    return found;
  };
  return { manifest, root: node("root"), node, remote: (source) => remotes.get(source) };
}

function register(node: ManifestNode, modules: Modules): RegisteredNode {
  const agent = node.source === undefined ? undefined : load<AgentDefinition>(modules, node.source, "agent");
  const instructions =
    node.instructions ??
    (node.instructionsSource === undefined
      ? undefined
      : load<InstructionsDefinition>(modules, node.instructionsSource, "instructions").text);
  return {
    manifest: node,
    model: agent?.model,
    ...toCompactAt(agent),
    ...(agent?.reasoning && { reasoning: agent.reasoning }),
    ...(agent?.modelOptions && { modelOptions: agent.modelOptions }),
    instructions,
    limits: agent?.limits ?? {},
    ...(node.sandbox?.source !== undefined && {
      sandbox: load<SandboxDefinition>(modules, node.sandbox.source, "sandbox"),
    }),
    tools: new Map(
      node.tools.map((tool) => [
        tool.name,
        { manifest: tool, definition: load<ToolDefinition>(modules, tool.source, "tool") },
      ]),
    ),
    subagents: new Map(node.subagents.map((subagent) => [subagent.name, toSubagent(subagent, modules)])),
    ...(node.id === "root" ? { copy: toCopy(node, agent) } : {}),
  };
}

function toCopy(
  { id, description, source = "agent.ts" }: ManifestNode,
  agent: AgentDefinition | undefined,
): RegisteredSubagent {
  const tool = agent?.tool ?? true;
  const manifest = {
    name: ROOT_AGENT,
    kind: "local",
    source,
    description: description || COPY_DESCRIPTION,
    tool,
  } as const;
  return { kind: "local", manifest, nodeId: id };
}

const DEFAULT_CONTEXT_WINDOW = 128_000;
const DEFAULT_THRESHOLD = 0.9;

function toCompactAt(agent: AgentDefinition | undefined): { compactAt?: number } {
  if (agent?.compaction === false) return {};
  const { thresholdPercent = DEFAULT_THRESHOLD } = agent?.compaction ?? {};
  return { compactAt: Math.floor((agent?.modelContextWindowTokens ?? DEFAULT_CONTEXT_WINDOW) * thresholdPercent) };
}

function toSubagent(manifest: ManifestSubagent, modules: Modules): RegisteredSubagent {
  switch (manifest.kind) {
    case "local":
      return { kind: "local", manifest, nodeId: manifest.nodeId! };
    case "remote":
      return { kind: "remote", manifest, definition: load(modules, manifest.source, "remote-agent") };
    case "peer":
      return {
        kind: "peer",
        manifest,
        peer: manifest.peer!,
        definition: load(modules, manifest.source, "workspace-agent"),
      };
  }
}

function load<T>(modules: Modules, source: string, kind: string): T {
  const found = modules[source];
  if (kindOf(found) !== kind) {
    throw new AgentError("CONFIG_INVALID", `The bundle has no ${kind} in agent/${source}.`, {
      fix: "Build the member again: its manifest and its bundle are of different builds.",
    });
  }
  return found as T;
}
