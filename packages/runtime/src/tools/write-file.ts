import * as z from "zod";
import { defineTool, type ToolDefinition } from "../define/define-tool.ts";
import { refusal } from "./refusal.ts";
import { hasRead, markRead } from "./session-reads.ts";

const inputSchema = z.object({
  path: z.string().min(1).describe("Of the file; starts at /workspace."),
  content: z.string().describe("The whole content."),
});

export interface WriteFileOutput {
  readonly outcome: "created" | "replaced" | "unchanged";
  readonly bytes: number;
}

/**
 * Writes a text file of the sandbox, but over no content that the session has not read: a default tool of every agent
 * (contract §7, §8). `agent/tools/write_file.ts` replaces it, `disableTool()` there hides it.
 *
 * @example
 * export default defineTool({ ...writeFile, description: "Writes the files of the project." });
 */
export const writeFile: ToolDefinition<typeof inputSchema, WriteFileOutput> = defineTool({
  description:
    "Writes a whole text file of the sandbox and creates the folders above it. A file that exists must have been read with read_file since it last changed.",
  inputSchema,
  execute: async ({ path, content }, { getSandbox }) => {
    const sandbox = await getSandbox();
    const bytes = Buffer.from(content, "utf8");
    const entry = await sandbox.stat({ path });
    if (entry?.type === "folder") throw refusal(`${path} is a folder.`, "Choose another path.");
    if (entry !== undefined) {
      const present = await sandbox.readFile({ path });
      // Also what a run of this call has written before a crash.
      if (bytes.equals(present)) {
        markRead(sandbox, path, bytes);
        return { outcome: "unchanged", bytes: bytes.length };
      }
      if (!hasRead(sandbox, path, present)) {
        throw refusal(
          `${path} exists, and this session has not read what is in it now.`,
          "Read it with read_file first.",
        );
      }
    }
    await sandbox.writeFile({ path, content: bytes });
    markRead(sandbox, path, bytes);
    return { outcome: entry === undefined ? "created" : "replaced", bytes: bytes.length };
  },
});

export default writeFile;
