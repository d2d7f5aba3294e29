import { posix } from "node:path";
import * as z from "zod";
import type { Sandbox } from "../define/define-sandbox.ts";
import { defineTool, type ToolDefinition } from "../define/define-tool.ts";
import { toPattern } from "./glob-pattern.ts";

const MAX_PATHS = 500;
const MAX_VISITED = 20_000;

const inputSchema = z.object({
  pattern: z.string().min(1).max(256).describe("For example **/*.{ts,md}; * and ? stay within a folder."),
  path: z.string().min(1).optional().describe("Folder that the pattern starts in. Default /workspace."),
});

export interface GlobOutput {
  /** Absolute, in order of the alphabet. */
  readonly paths: readonly string[];
  readonly note?: string;
}

/**
 * Finds files of the sandbox by their names. Not a default: `export { default } from "eve/tools/glob"` in
 * `agent/tools/glob.ts` adds it.
 */
export const glob: ToolDefinition<typeof inputSchema, GlobOutput> = defineTool({
  description: "Finds files of the sandbox whose paths fit a pattern.",
  inputSchema,
  execute: async ({ pattern, path = "/workspace" }, { abortSignal, getSandbox }) => {
    const folder = posix.resolve("/workspace", path);
    const fits = toPattern(pattern);
    const paths: string[] = [];
    let visited = 0;
    for await (const file of filesBelow(await getSandbox(), folder)) {
      abortSignal.throwIfAborted();
      if (fits.test(posix.relative(folder, file))) paths.push(file);
      if (++visited >= MAX_VISITED || paths.length > MAX_PATHS) {
        return { paths: paths.slice(0, MAX_PATHS).sort(), note: "There are more. Use a narrower pattern or folder." };
      }
    }
    return { paths: paths.sort() };
  },
});

export default glob;

async function* filesBelow(sandbox: Sandbox, folder: string): AsyncGenerator<string> {
  for (const { name, type } of await sandbox.list({ path: folder })) {
    const path = posix.join(folder, name);
    if (type === "file") yield path;
    else yield* filesBelow(sandbox, path);
  }
}
