export { kindOf } from "./brand.ts";
export type { DefinitionKind } from "./brand.ts";
export { defineAgent } from "./define-agent.ts";
export type { AgentDefinition, AgentLimits, AgentOptions } from "./define-agent.ts";
export { defineInstructions } from "./define-instructions.ts";
export type { InstructionsDefinition } from "./define-instructions.ts";
export { defineRemoteAgent } from "./define-remote-agent.ts";
export type {
  OutboundAuth,
  OutboundHeaders,
  RemoteAgentDefinition,
  RemoteAgentOptions,
  Transport,
} from "./define-remote-agent.ts";
export { defineSandbox } from "./define-sandbox.ts";
export type {
  RunOptions,
  RunResult,
  Sandbox,
  SandboxDefinition,
  SandboxEntry,
  SandboxOptions,
  SandboxProvider,
  SandboxRequest,
  SeedFile,
} from "./define-sandbox.ts";
export { defineTool } from "./define-tool.ts";
export type { ToolContext, ToolDefinition, ToolOptions } from "./define-tool.ts";
export { defineWorkspaceAgent } from "./define-workspace-agent.ts";
export type { WorkspaceAgentDefinition, WorkspaceAgentOptions } from "./define-workspace-agent.ts";
export { disableTool } from "./disable-tool.ts";
export type { DisabledToolDefinition } from "./disable-tool.ts";
