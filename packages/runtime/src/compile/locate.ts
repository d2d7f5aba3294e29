import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { isAuthored } from "./bundle/declared-dependencies.ts";

export interface Place {
  readonly path: string;
  /** Counted from 1. */
  readonly line: number;
}

/** The line of the default export of a source text; 1 when it has none. */
export function lineOfDefaultExport(text: string): number {
  return findLine(text, 1, /^\s*export\s+default\b|^\s*export\s*\{[^}]*\bdefault\b/) ?? 1;
}

/**
 * The line that sets `option` in a definition, at or below line `from` (default: the default export). Falls back to
 * `from`, because an option can also come from a variable or a spread.
 */
export function lineOfOption(text: string, option: string, from: number = lineOfDefaultExport(text)): number {
  const name = option.replace(/\W/g, "\\$&");
  return findLine(text, from, new RegExp(`(?:^|[{,(])\\s*["']?${name}["']?\\s*(?:[:,(}]|$)`)) ?? from;
}

/** The innermost frame of a stack (with source maps applied) that lies in authored code of the member. */
export function authoredFrame(memberDir: string, stack: string | undefined): Place | undefined {
  for (const frame of stack?.split("\n") ?? []) {
    const match = /(?:\(|at (?:async )?)((?:file:\/\/)?\/[^()]*?):(\d+):\d+\)?$/.exec(frame);
    if (!match) continue;
    const path = match[1]!.startsWith("file:") ? fileURLToPath(match[1]!) : match[1]!;
    if (isAuthored(memberDir, path)) return { path, line: Number(match[2]) };
  }
  return undefined;
}

/** The text of a file, or an empty one when it is gone in the meantime. */
export function readSource(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}

function findLine(text: string, from: number, pattern: RegExp): number | undefined {
  const lines = text.split("\n");
  const index = lines.findIndex(
    (line, at) => at >= from - 1 && !/^\s*(?:\/\/|\*|\/\*)/.test(line) && pattern.test(line),
  );
  return index < 0 ? undefined : index + 1;
}
