import type { ToolVisibility } from "../protocol/manifest.ts";
import { brand } from "./brand.ts";
import { checkOptions } from "./check-options.ts";

type Awaitable<T> = T | Promise<T>;

/** Headers that authenticate one outbound request; resolved afresh for each (contract §10.2). */
export type OutboundAuth = (request: {
  readonly url: string;
  readonly method: string;
}) => Awaitable<Record<string, string>>;
export type OutboundHeaders = Readonly<Record<string, string>> | (() => Awaitable<Readonly<Record<string, string>>>);

export interface Transport {
  /** Base URL of the remote. A string is fixed at build, a function is read at run time. Base paths are kept. */
  readonly url: string | (() => Awaitable<string>);
  readonly auth?: OutboundAuth;
  readonly headers?: OutboundHeaders;
}

export interface RemoteAgentOptions extends Transport {
  readonly description: string;
  /** Route of the create request below `url`. Default `/eve/v1/session`. */
  readonly path?: string;
  readonly tool?: ToolVisibility;
}

export interface RemoteAgentDefinition extends RemoteAgentOptions {
  readonly tool: ToolVisibility;
}

/**
 * Defines a subagent that runs at another deployment (contract §10.1).
 *
 * @throws AgentError `CONFIG_INVALID` for an unknown option or one of the wrong type.
 * @example
 * export default defineRemoteAgent({
 *   url: "https://weather.example.com",
 *   description: "Answers questions about the weather.",
 * });
 */
export function defineRemoteAgent(options: RemoteAgentOptions): RemoteAgentDefinition {
  checkOptions("defineRemoteAgent", options, {
    url: "url",
    description: "string",
    auth: "function?",
    headers: "headers?",
    path: "string?",
    tool: "visibility?",
  });
  return brand("remote-agent", { ...options, tool: options.tool ?? true });
}
