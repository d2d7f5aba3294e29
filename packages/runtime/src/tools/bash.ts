import * as z from "zod";
import type { RunResult } from "../define/define-sandbox.ts";
import { defineTool, type ToolDefinition } from "../define/define-tool.ts";
import { cutMiddle } from "./cut-text.ts";

const MAX_LENGTH = 30_000;

const inputSchema = z.object({
  command: z.string().min(1).describe("The command line. Starts in /workspace, every time."),
  timeoutSeconds: z.number().int().min(1).max(600).optional().describe("When to kill it. Default 60."),
});

/**
 * Runs a command in the sandbox: a default tool of every agent (contract §7, §8). `agent/tools/bash.ts` replaces it,
 * `disableTool()` there hides it.
 *
 * @example
 * export default defineTool({ ...bash, description: "Runs maintenance commands." });
 */
export const bash: ToolDefinition<typeof inputSchema, RunResult> = defineTool({
  description:
    "Runs a shell command in the sandbox of this session, whose files are in /workspace and stay. Variables and the current folder do not stay: every command is a new shell.",
  inputSchema,
  execute: async ({ command, timeoutSeconds = 60 }, { abortSignal, getSandbox }) => {
    const sandbox = await getSandbox();
    const result = await sandbox.run({ command, timeoutMs: timeoutSeconds * 1_000, signal: abortSignal });
    return {
      exitCode: result.exitCode,
      stdout: cutMiddle(result.stdout, MAX_LENGTH),
      stderr: cutMiddle(result.stderr, MAX_LENGTH),
    };
  },
  // Half of a command has happened, and the other half may not be the same twice.
  onInterrupt: "fail",
});

export default bash;
