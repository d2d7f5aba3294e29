import {
  AGENT_TOOL_SCHEMA,
  agentToolDescription,
  TASK_CANCEL_DESCRIPTION,
  TASK_CANCEL_SCHEMA,
  TASK_CANCEL_TOOL,
  TASK_WAIT_DESCRIPTION,
  TASK_WAIT_SCHEMA,
  TASK_WAIT_TOOL,
} from "../engine/text.ts";
import type { SessionState } from "../engine/state.ts";
import { ROOT_AGENT } from "../protocol/manifest.ts";
import type { RegisteredNode, RegisteredSubagent, RegisteredTool } from "./registry.ts";

/** One tool as the model sees it, and what a call of it reaches. */
export interface ProjectedTool {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: Readonly<Record<string, unknown>>;
  readonly target:
    | { readonly kind: "tool"; readonly tool: RegisteredTool }
    | { readonly kind: "agent"; readonly subagent: RegisteredSubagent }
    /** What a model that has agents to call can do with its tasks. */
    | { readonly kind: "task-wait" }
    | { readonly kind: "task-cancel" };
}

/**
 * The tools that the model of a session may see, from the composition that the build recorded (contract §4). The root's
 * copy is there for sessions that no other one of this member opened (§7).
 */
export function projectTools(
  node: RegisteredNode,
  { origin }: Pick<SessionState, "origin">,
): ReadonlyMap<string, ProjectedTool> {
  const copy = origin.kind === "local" ? undefined : node.copy;
  const projected = new Map<string, ProjectedTool>();
  for (const { name, visible, kind } of node.manifest.composition) {
    if (!visible) continue;
    const tool = kind === "tool" ? node.tools.get(name) : undefined;
    const subagent = kind === "agent" ? (name === ROOT_AGENT ? copy : node.subagents.get(name)) : undefined;
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
  if ([...projected.values()].some(({ target }) => target.kind === "agent")) {
    for (const tool of TASK_TOOLS) projected.set(tool.name, tool);
  }
  return projected;
}

const TASK_TOOLS: readonly ProjectedTool[] = [
  {
    name: TASK_WAIT_TOOL,
    description: TASK_WAIT_DESCRIPTION,
    inputSchema: TASK_WAIT_SCHEMA,
    target: { kind: "task-wait" },
  },
  {
    name: TASK_CANCEL_TOOL,
    description: TASK_CANCEL_DESCRIPTION,
    inputSchema: TASK_CANCEL_SCHEMA,
    target: { kind: "task-cancel" },
  },
];
