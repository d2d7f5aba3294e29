import { brand } from "./brand.ts";

export interface DisabledToolDefinition {
  readonly disabled: true;
}

/**
 * Hides the tool that would otherwise be derived at this path (contract §4). The subagent of that name stays
 * callable.
 *
 * @example
 * // agent/tools/researcher.ts
 * export default disableTool();
 */
export function disableTool(): DisabledToolDefinition {
  return brand("disabled-tool", { disabled: true as const });
}
