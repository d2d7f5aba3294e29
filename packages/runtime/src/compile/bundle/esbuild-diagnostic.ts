import { resolve } from "node:path";
import type { Message } from "esbuild";
import { near } from "../../define/closest.ts";
import { relativeTo, type Diagnostic, type DiagnosticCode } from "../../discover/index.ts";
import { readSource } from "../locate.ts";
import type { BundleOptions } from "./bundle-member.ts";
import { ENTRY_PREFIX } from "./entries.ts";

/** `message`: in place of the text of esbuild. */
type Kind = Pick<Diagnostic, "code" | "fix"> & Partial<Pick<Diagnostic, "message">>;

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
    message: text,
    ...(severity === "warning" ? WARNING : kindOf(message, root)),
    path: relativeTo(base, authored ? resolve(root, location.file) : resolve(member.dir, "package.json")),
    line: authored ? Math.max(location.line, 1) : 1,
  };
}

const WARNING: Kind = { code: "SOURCE_WARNING", fix: "Change the code, or leave it if it is meant." };

function kindOf({ detail, text, location, notes }: Message, root: string): Kind {
  const own = detail as { code: DiagnosticCode; fix: string } | undefined;
  if (own?.code !== undefined) return own;
  if (text.startsWith("Could not resolve")) {
    const fix = "Correct the path, or run `pnpm install` when it is a package.";
    return { code: "IMPORT_UNRESOLVED", fix, ...toPackagePart(text, notes, root) };
  }
  const [, missing] = /^No matching export in .* for import "(.*)"$/.exec(text) ?? [];
  if (missing !== undefined) {
    const [, specifier] = /\bfrom\s*["']([^"']+)["']/.exec(location?.lineText ?? "") ?? [];
    const who = specifier === undefined ? "The imported module" : `"${specifier}"`;
    const fix = location?.suggestion ? `Import "${location.suggestion}".` : "Import a name that the file exports.";
    return { code: "IMPORT_UNRESOLVED", message: `${who} does not export "${missing}".`, fix };
  }
  const [, twice] = /^Multiple exports with the same name "(.*)"$/.exec(text) ?? [];
  const first = notes[0]?.location?.line;
  if (twice !== undefined && first !== undefined && location !== null) {
    const what = twice === "default" ? "has two default exports" : `exports "${twice}" twice`;
    const message = `This file ${what}, at lines ${first} and ${location.line}.`;
    return { code: "SYNTAX_ERROR", message, fix: "Keep one of them." };
  }
  if (location === null || /^(?:No loader|Could not read|Do not know how to load)/.test(text)) {
    return { code: "BUNDLE_FAILED", fix: "Import only files that JavaScript can be bundled from." };
  }
  return { code: "SYNTAX_ERROR", fix: "Correct the syntax." };
}

/** For a part that its package does not export: the one that was meant, or what there is. */
function toPackagePart(text: string, notes: Message["notes"], root: string): Pick<Kind, "fix" | "message"> | undefined {
  const note = notes.find((one) => one.text.includes("is not exported by package"));
  const [, name] = /is not exported by package "(.+?)"/.exec(note?.text ?? "") ?? [];
  const [, specifier] = /^Could not resolve "(.*)"$/.exec(text) ?? [];
  if (name === undefined || specifier === undefined || !note?.location) return undefined;
  const { exports = {} } = JSON.parse(readSource(resolve(root, note.location.file)) || "{}") as { exports?: object };
  const parts = Object.keys(exports).flatMap((key) =>
    /^\.(?!.*\*)(?!\/package\.json$)/.test(key) ? [`${name}${key.slice(1)}`] : [],
  );
  const meant = near(specifier, parts);
  const listed = parts.slice(0, 8).map((part) => `"${part}"`);
  return {
    message: `"${specifier}" is no export of the package "${name}".`,
    fix: meant === undefined ? `Import what it exports: ${listed.join(", ")}.` : `Import "${meant}".`,
  };
}
