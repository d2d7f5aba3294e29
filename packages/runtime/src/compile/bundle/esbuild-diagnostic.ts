import { resolve } from "node:path";
import type { Message } from "esbuild";
import { relativeTo, type Diagnostic, type DiagnosticCode } from "../../discover/index.ts";
import type { BundleOptions } from "./bundle-member.ts";
import { ENTRY_PREFIX } from "./entries.ts";

type Kind = Pick<Diagnostic, "code" | "fix">;

/** Turns a message of esbuild into a diagnostic at the same place. */
export function toDiagnostic(
  message: Message,
  severity: Diagnostic["severity"],
  { base, root, member }: BundleOptions,
): Diagnostic {
  const { location, text } = message;
  // Generated entries are no file: an error in them is about the member as a whole.
  const authored = location !== null && !location.file.startsWith(ENTRY_PREFIX);
  return {
    severity,
    ...(severity === "warning" ? WARNING : kindOf(message)),
    path: relativeTo(base, authored ? resolve(root, location.file) : resolve(member.dir, "package.json")),
    line: authored ? Math.max(location.line, 1) : 1,
    message: text,
  };
}

const WARNING: Kind = { code: "SOURCE_WARNING", fix: "Change the code, or leave it if it is meant." };

function kindOf({ detail, text, location }: Message): Kind {
  const own = detail as { code: DiagnosticCode; fix: string } | undefined;
  if (own?.code !== undefined) return own;
  if (text.startsWith("Could not resolve")) {
    return { code: "IMPORT_UNRESOLVED", fix: "Correct the path, or run `pnpm install` when it is a package." };
  }
  if (text.startsWith("No matching export")) {
    return { code: "IMPORT_UNRESOLVED", fix: "Import a name that the file exports." };
  }
  if (location === null || /^(?:No loader|Could not read|Do not know how to load)/.test(text)) {
    return { code: "BUNDLE_FAILED", fix: "Import only files that JavaScript can be bundled from." };
  }
  return { code: "SYNTAX_ERROR", fix: "Correct the syntax." };
}
