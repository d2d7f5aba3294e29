/** What files under `agent/tools/` import from `eve/tools`. */
export { defineTool } from "../define/define-tool.ts";
export type { ToolContext, ToolDefinition, ToolOptions } from "../define/define-tool.ts";
export { disableTool } from "../define/disable-tool.ts";
export type { DisabledToolDefinition } from "../define/disable-tool.ts";
