/**
 * `export { default } from "eve/tools/agent"` in `agent/tools/agent.ts` shows the tool that calls a copy of the root
 * agent (contract §4, §7).
 */
export { rootAgent as default } from "../define/root-agent.ts";
