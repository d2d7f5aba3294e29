import { AGENT_TOOL_SCHEMA, agentToolDescription } from "../engine/text.ts";
import type { RegisteredNode, RegisteredSubagent, RegisteredTool } from "./registry.ts";

/** One tool as the model sees it, and what a call of it reaches. */
export interface ProjectedTool {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: Readonly<Record<string, unknown>>;
  readonly target:
    | { readonly kind: "tool"; readonly tool: RegisteredTool }
    | { readonly kind: "agent"; readonly subagent: RegisteredSubagent };
}

/** The tools that a node's model may see, from the composition that the build recorded (contract §4). */
export function projectTools(node: RegisteredNode): ReadonlyMap<string, ProjectedTool> {
  const projected = new Map<string, ProjectedTool>();
  for (const { name, visible, kind } of node.manifest.composition) {
    if (!visible) continue;
    const tool = kind === "tool" ? node.tools.get(name) : undefined;
    const subagent = kind === "agent" ? node.subagents.get(name) : undefined;
    if (tool !== undefined) {
      const { description, inputSchema } = tool.manifest;
      projected.set(name, { name, description, inputSchema, target: { kind: "tool", tool } });
    } else if (subagent !== undefined) {
      projected.set(name, {
        name,
        description: agentToolDescription(subagent.manifest.description),
        inputSchema: AGENT_TOOL_SCHEMA,
        target: { kind: "agent", subagent },
      });
    }
  }
  return projected;
}
