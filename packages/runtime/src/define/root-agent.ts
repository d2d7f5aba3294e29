import { brand } from "./brand.ts";

/** What `eve/tools/agent` exports. */
export interface RootAgentDefinition {
  readonly rootAgent: true;
}

/**
 * The tool that calls a copy of the root agent (contract §7). Only `agent/tools/agent.ts` may export it: there it
 * shows the tool whatever `tool` of `agent.ts` says (§4).
 */
export const rootAgent: RootAgentDefinition = brand("root-agent", { rootAgent: true as const });
