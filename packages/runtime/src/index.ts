/** What authored files import from `eve`. */
export { defineAgent } from "./define/define-agent.ts";
export type { AgentDefinition, AgentOptions } from "./define/define-agent.ts";
export { defineInstructions } from "./define/define-instructions.ts";
export { defineRemoteAgent } from "./define/define-remote-agent.ts";
export type { RemoteAgentDefinition, RemoteAgentOptions, Transport } from "./define/define-remote-agent.ts";
export { defineWorkspaceAgent } from "./define/define-workspace-agent.ts";
export type { ModelOptions, Reasoning } from "./define/model-options.ts";
export type { WorkspaceAgentDefinition, WorkspaceAgentOptions } from "./define/define-workspace-agent.ts";
export { AgentError } from "./errors.ts";
export type { ErrorCode } from "./errors.ts";
