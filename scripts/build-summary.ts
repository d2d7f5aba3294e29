import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { toMemberName, type WorkspaceConfig } from "eve/vercel";
import type { MemberTask } from "./build-members.ts";
import type { OutputState } from "./build-output.ts";

export interface BuiltFunction {
  readonly member: string;
  /** The member was not compiled again. */
  readonly cached: boolean;
  /** Its folder, below the root of the workspace. */
  readonly path: string;
  readonly bytes: number;
  readonly files: number;
}

export interface Summary {
  readonly functions: readonly BuiltFunction[];
  readonly output: OutputState;
  readonly seconds: number;
}

/** What is in the function of every member. */
export function readFunctions(
  root: string,
  { services = {} }: WorkspaceConfig,
  tasks: readonly MemberTask[],
): BuiltFunction[] {
  return Object.entries(services).flatMap(([service, { root: folder }]) => {
    const member = toMemberName(service);
    if (member === undefined || folder !== `agents/${member}`) return [];
    const path = `.vercel/output/services/${service}/functions/index.func`;
    const sizes = sizesBelow(join(root, path));
    const bytes = sizes.reduce((sum, size) => sum + size, 0);
    const cached = tasks.find((task) => task.member === member)?.cached ?? false;
    return [{ member, cached, path, bytes, files: sizes.length }];
  });
}

/** One table, or one line of JSON. */
export function printSummary({ functions, output, seconds }: Summary, isJson: boolean): void {
  if (isJson) {
    process.stdout.write(`${JSON.stringify({ ok: true, output, seconds, functions })}\n`);
    return;
  }
  const width = Math.max(...functions.map(({ member }) => member.length), "member".length);
  const row = (member: string, size: string, files: string, state: string) =>
    `  ${member.padEnd(width)}  ${size.padStart(9)}  ${files.padStart(5)}  ${state}`.trimEnd();
  const lines = [
    "",
    row("member", "function", "files", ""),
    ...functions.map(({ member, bytes, files, cached }) =>
      row(member, `${Math.round(bytes / 1000).toLocaleString("en")} kB`, String(files), cached ? "cached" : "compiled"),
    ),
    "",
    `.vercel/output ${output === "unchanged" ? "is up to date" : "built"} (${seconds.toFixed(1)} s)`,
    "",
  ];
  process.stdout.write(lines.join("\n"));
}

function sizesBelow(folder: string): number[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return sizesBelow(path);
    return entry.name === ".vc-config.json" ? [] : [statSync(path).size];
  });
}
