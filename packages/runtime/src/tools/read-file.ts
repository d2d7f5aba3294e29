import * as z from "zod";
import { defineTool, type ToolDefinition } from "../define/define-tool.ts";
import { refusal } from "./refusal.ts";
import { markRead } from "./session-reads.ts";

const MAX_BYTES = 16 * 1024 * 1024;
const MAX_LENGTH = 50_000;
const MAX_LINES = 2_000;
const MAX_LINE_LENGTH = 2_000;

const inputSchema = z.object({
  path: z.string().min(1).describe("Of the file; starts at /workspace."),
  startLine: z.number().int().min(1).optional().describe("First line to read, counted from 1."),
  lineCount: z.number().int().min(1).optional().describe(`How many lines; at most ${MAX_LINES}.`),
});

export interface ReadFileOutput {
  readonly content: string;
  readonly startLine: number;
  readonly endLine: number;
  readonly totalLines: number;
  /** What was left out, and how to read it. */
  readonly note?: string;
}

/**
 * Reads a text file of the sandbox: a default tool of every agent (contract §7, §8). `agent/tools/read_file.ts`
 * replaces it, `disableTool()` there hides it.
 *
 * @example
 * export default defineTool({ ...readFile, description: "Reads the files of the project." });
 */
export const readFile: ToolDefinition<typeof inputSchema, ReadFileOutput> = defineTool({
  description: "Reads a text file of the sandbox, or some lines of it.",
  inputSchema,
  execute: async ({ path, startLine = 1, lineCount = MAX_LINES }, { getSandbox }) => {
    const sandbox = await getSandbox();
    const entry = await sandbox.stat({ path });
    if (entry === undefined) throw refusal(`There is no file ${path}.`, "List the folder with bash: ls.");
    if (entry.type === "folder") throw refusal(`${path} is a folder.`, "List it with bash: ls.");
    if (entry.size > MAX_BYTES) {
      throw refusal(
        `${path} has ${entry.size} bytes, too many to read at once.`,
        "Look into it with bash: head, grep.",
      );
    }
    const bytes = await sandbox.readFile({ path });
    if (bytes.subarray(0, 8_192).includes(0)) throw refusal(`${path} is no text.`, "Look into it with bash: file, od.");
    markRead(sandbox, path, bytes);
    return toOutput(Buffer.from(bytes).toString("utf8"), startLine, Math.min(lineCount, MAX_LINES));
  },
});

export default readFile;

function toOutput(text: string, startLine: number, lineCount: number): ReadFileOutput {
  const lines = text.split("\n");
  if (lines.at(-1) === "") lines.pop();
  const totalLines = lines.length;
  const kept: string[] = [];
  const notes: string[] = [];
  let length = 0;
  for (const line of lines.slice(startLine - 1, startLine - 1 + lineCount)) {
    const cut = line.length > MAX_LINE_LENGTH;
    const shown = cut ? line.slice(0, MAX_LINE_LENGTH) : line;
    if (length + shown.length > MAX_LENGTH && kept.length > 0) break;
    if (cut) notes.push(`Line ${startLine + kept.length} is cut: it has ${line.length} characters.`);
    kept.push(shown);
    length += shown.length + 1;
  }
  const endLine = startLine - 1 + kept.length;
  if (startLine > totalLines && startLine > 1) notes.push(`The file has ${totalLines} lines.`);
  else if (endLine < totalLines) notes.push(`Go on with startLine ${endLine + 1} of ${totalLines}.`);
  return {
    content: kept.map((line) => `${line}\n`).join(""),
    startLine,
    endLine,
    totalLines,
    ...(notes.length === 0 ? {} : { note: notes.slice(0, 10).join(" ") }),
  };
}
