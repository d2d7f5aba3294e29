/** Source texts of definitions, with the given options at known lines: 7 in a tool, 4 in the others. */

export const tool = (options: string): string => `
import { defineTool } from "eve/tools";
import { z } from "zod";

export default defineTool({
  description: "d",
${options}
  execute: () => 1,
});
`;
export const GOOD_TOOL: string = tool("  inputSchema: z.object({}),");
export const agent = (options: string): string =>
  `import { defineAgent } from "eve";\n\nexport default defineAgent({\n${options}\n});\n`;
export const peer = (options: string): string =>
  `import { defineWorkspaceAgent } from "eve";\n\nexport default defineWorkspaceAgent({\n${options}\n});\n`;
