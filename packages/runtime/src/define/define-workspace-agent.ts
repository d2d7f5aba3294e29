import type { ToolVisibility } from "../protocol/manifest.ts";
import { brand } from "./brand.ts";
import { checkOptions } from "./check-options.ts";
import type { Transport } from "./define-remote-agent.ts";

export interface WorkspaceAgentOptions {
  /** Folder of the peer under `agents/`. */
  readonly name: string;
  /** Default: the description of the peer's own root agent, read at build. */
  readonly description?: string;
  /** Replaces the transport of the environment completely (contract §10.4). */
  readonly transport?: Transport;
  readonly tool?: ToolVisibility;
}

export interface WorkspaceAgentDefinition extends WorkspaceAgentOptions {
  readonly tool: ToolVisibility;
}

/**
 * Defines a subagent that is another member of this workspace (contract §10.4). The file name is the tool's name.
 *
 * @throws AgentError `CONFIG_INVALID` for an unknown option or one of the wrong type.
 * @example
 * // agents/foreman/agent/subagents/research.ts
 * export default defineWorkspaceAgent({ name: "research" });
 */
export function defineWorkspaceAgent(options: WorkspaceAgentOptions): WorkspaceAgentDefinition {
  checkOptions("defineWorkspaceAgent", options, {
    name: "string",
    description: "string?",
    transport: "object?",
    tool: "visibility?",
  });
  if (options.transport !== undefined) {
    checkOptions("defineWorkspaceAgent transport", options.transport, {
      url: "url",
      auth: "function?",
      headers: "headers?",
    });
  }
  const transport = options.transport === undefined ? {} : { transport: Object.freeze({ ...options.transport }) };
  return brand("workspace-agent", { ...options, ...transport, tool: options.tool ?? true });
}
