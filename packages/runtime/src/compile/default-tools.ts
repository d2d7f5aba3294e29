import { fileURLToPath } from "node:url";
import type { DiscoveredNode, NamedModule } from "../discover/index.ts";

/** Sources of the tools that the framework gives to an agent: the entries of this package. */
const DEFAULTS_PREFIX = "eve/tools/";

export function isDefaultTool(source: string): boolean {
  return source.startsWith(DEFAULTS_PREFIX);
}

/** Names of the tools that every agent has, where it says nothing else at their path (contract §8). */
const NAMES = ["bash", "read_file", "write_file"] as const;

export function isDefaultName(name: string): boolean {
  return NAMES.some((one) => one === name);
}

/**
 * A node with the defaults whose names are not taken by one of its own files or subagents. Every node decides for
 * itself, so what the root says at such a path reaches no subagent.
 */
export function withDefaultTools(node: DiscoveredNode): DiscoveredNode {
  const { tools, locals, references } = node;
  const taken = new Set([...tools, ...locals, ...references].map(({ name }) => name));
  const defaults = NAMES.filter((name) => !taken.has(name)).map(toModule);
  return { ...node, tools: [...tools, ...defaults].sort((a, b) => (a.name < b.name ? -1 : 1)) };
}

function toModule(name: string): NamedModule {
  const file = new URL(`../tools/${name.replaceAll("_", "-")}.ts`, import.meta.url);
  return { name, source: `${DEFAULTS_PREFIX}${name}`, path: fileURLToPath(file) };
}
