import * as z from "zod";
import { defineTool, type ToolDefinition } from "../define/define-tool.ts";
import { cutMiddle } from "./cut-text.ts";
import { refusal } from "./refusal.ts";

const MAX_MATCHES = 200;
const MAX_LINE_LENGTH = 500;

const inputSchema = z.object({
  pattern: z.string().min(1).max(1_000).describe("An extended regular expression, as grep -E takes it."),
  path: z.string().min(1).optional().describe("File or folder to search. Default /workspace."),
  include: z.string().min(1).max(256).optional().describe("Names of files to search, for example *.ts."),
  ignoreCase: z.boolean().optional().describe("Whether A is a."),
});

export interface GrepOutput {
  /** `<path>:<line>:<text>` */
  readonly matches: readonly string[];
  readonly note?: string;
}

/**
 * Finds lines in the files of the sandbox. Not a default: `export { default } from "eve/tools/grep"` in
 * `agent/tools/grep.ts` adds it.
 */
export const grep: ToolDefinition<typeof inputSchema, GrepOutput> = defineTool({
  description: "Finds the lines that fit an expression in the files of the sandbox.",
  inputSchema,
  execute: async ({ pattern, path = ".", include, ignoreCase = false }, { abortSignal, getSandbox }) => {
    const sandbox = await getSandbox();
    if ((await sandbox.stat({ path })) === undefined) throw refusal(`There is no ${path}.`, "Search another path.");
    // Where the expression runs is where it can do no harm: one that takes for ever is killed with its command.
    const words = [
      "grep",
      "-rnE",
      ...(ignoreCase ? ["-i"] : []),
      ...(include === undefined ? [] : [`--include=${include}`]),
    ];
    const command = [...words, "-e", pattern, "--", path].map(quote).join(" ");
    const { exitCode, stdout, stderr } = await sandbox.run({ command, signal: abortSignal });
    if (exitCode > 1 || stderr !== "")
      throw refusal(`grep failed: ${cutMiddle(stderr.trim(), 1_000)}.`, "Correct the expression.");
    const lines = stdout.split("\n").filter((line) => line !== "");
    return {
      matches: lines.slice(0, MAX_MATCHES).map((line) => cutMiddle(line, MAX_LINE_LENGTH)),
      ...(lines.length > MAX_MATCHES
        ? { note: `${MAX_MATCHES} of at least ${lines.length} lines. Search for less.` }
        : {}),
    };
  },
});

export default grep;

function quote(word: string): string {
  return `'${word.replaceAll("'", `'\\''`)}'`;
}
