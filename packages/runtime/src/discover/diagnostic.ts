/**
 * What a build says about authored files. Diagnostics are data: discovery and compilation collect them all, and
 * only the command line prints them (contract §3).
 */
export const DIAGNOSTIC_CODES = [
  "AGENT_MISSING",
  "BUNDLE_FAILED",
  "DEPENDENCY_UNDECLARED",
  "DESCRIPTION_MISSING",
  "DISABLE_UNUSED",
  "ENV_UNSET",
  "EXPORT_KIND",
  "EXPORT_MISSING",
  "IMPORT_UNRESOLVED",
  "INSTRUCTIONS_EMPTY",
  "MODULE_THREW",
  "MODULE_TIMEOUT",
  "NAME_COLLISION",
  "NAME_INVALID",
  "OPTION_INVALID",
  "PACKAGE_INVALID",
  "PEER_SELF",
  "PEER_UNKNOWN",
  "ROOT_AGENT_UNUSED",
  "SCHEMA_INVALID",
  "SEED_INVALID",
  "SEED_TOO_LARGE",
  "SLOT_DUPLICATE",
  "SLOT_ROOT_ONLY",
  "SLOT_UNKNOWN",
  "SLOT_UNSUPPORTED",
  "SOURCE_WARNING",
  "SYNTAX_ERROR",
] as const;

export type DiagnosticCode = (typeof DIAGNOSTIC_CODES)[number];

export interface Diagnostic {
  /** An `error` fails the build, a `warning` is only printed. */
  readonly severity: "error" | "warning";
  readonly code: DiagnosticCode;
  /** Relative to the workspace root, or to the working directory outside a workspace; with `/`. */
  readonly path: string;
  /** Counted from 1. */
  readonly line: number;
  readonly message: string;
  /** One imperative sentence that says how to repair it. */
  readonly fix: string;
}

/** One line of human output: `path:line CODE message — fix` (contract §3). */
export function formatDiagnostic({ path, line, code, message, fix }: Diagnostic): string {
  return `${path}:${line} ${code} ${oneLine(message)} — ${oneLine(fix)}`;
}

/** In reading order, each once: two modules that import one broken file report it once. */
export function sortDiagnostics(diagnostics: readonly Diagnostic[]): Diagnostic[] {
  const unique = new Map(diagnostics.map((d) => [`${d.path}:${d.line} ${d.code} ${d.message}`, d]));
  return [...unique.values()].sort(
    (a, b) => compare(a.path, b.path) || a.line - b.line || compare(a.code, b.code) || compare(a.message, b.message),
  );
}

// Not localeCompare: the order must not depend on the machine.
function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

function oneLine(text: string): string {
  return text.replace(/\s*\n\s*/g, " ");
}
