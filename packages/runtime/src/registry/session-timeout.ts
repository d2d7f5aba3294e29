import type { Registry } from "./registry.ts";

const DEFAULT_MS = 30 * 86_400_000;

/**
 * How long a session of a node may live (contract §16): what its agent says, else what the root says, else 30 days.
 * `undefined`: for ever. An agent that this build does not have any more is as good as one that says nothing.
 */
export function sessionTimeoutOf({ manifest, root, node }: Registry, nodeId: string): number | undefined {
  const own = manifest.nodes.some(({ id }) => id === nodeId) ? node(nodeId).limits.sessionTimeoutMs : undefined;
  const timeout = own ?? root.limits.sessionTimeoutMs ?? DEFAULT_MS;
  return timeout === false ? undefined : timeout;
}
