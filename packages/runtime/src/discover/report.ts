import { relative, sep } from "node:path";
import type { Diagnostic, DiagnosticCode } from "./diagnostic.ts";

/** Reports one problem at an absolute path. */
export type Report = (
  code: DiagnosticCode,
  path: string,
  line: number,
  message: string,
  fix: string,
  severity?: Diagnostic["severity"],
) => void;

/** A report that appends to `diagnostics`, with paths relative to `base`. */
export function reportTo(diagnostics: Diagnostic[], base: string): Report {
  return (code, path, line, message, fix, severity = "error") => {
    diagnostics.push({ severity, code, path: relativeTo(base, path), line, message, fix });
  };
}

/** `path` as diagnostics show it: below `base`, with `/`. */
export function relativeTo(base: string, path: string): string {
  return relative(base, path).split(sep).join("/") || ".";
}
