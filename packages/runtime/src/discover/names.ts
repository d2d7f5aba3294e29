/** A name that breaks a rule of contract §2.2, and how to repair it. */
export interface NameProblem {
  readonly message: string;
  readonly fix: string;
}

const MEMBER = /^[a-z][a-z0-9-]{0,47}$/;
const SLOT = /^[a-z][a-z0-9-]*(?:_[a-z0-9-]+)*$/;

/** Checks the name of a member, which is its folder under `agents/` (contract §2.2). */
export function checkMemberName(name: string): NameProblem | undefined {
  if (MEMBER.test(name)) return undefined;
  return {
    message: `"${name}" can not name a member: lower-case letters, digits and "-", starting with a letter, at most 48.`,
    fix: `Rename the folder, for example to "${repair(name, "-").slice(0, 48)}".`,
  };
}

/** Checks the path-derived name of a tool or a subagent (contract §2.2). */
export function checkSlotName(kind: "tool" | "subagent", name: string): NameProblem | undefined {
  const reason = brokenRule(kind, name);
  if (reason === undefined) return undefined;
  const suggestion = repair(name, "_").slice(0, 64);
  const usable = brokenRule(kind, suggestion) === undefined;
  return {
    message: `"${name}" can not name a ${kind}: ${reason}.`,
    fix: usable ? `Rename it, for example to "${suggestion}".` : "Give it another name.",
  };
}

function brokenRule(kind: "tool" | "subagent", name: string): string | undefined {
  if (name === "eve" || name.startsWith("eve__"))
    return '"eve" and names that start with "eve__" belong to the framework';
  if (kind === "subagent" && name === "agent") return '"agent" is the name of the root\'s own copy';
  if (name.includes("__")) return '"__" separates namespaces and can not be part of a name';
  if (name.length > 64) return "a name has at most 64 characters";
  if (!SLOT.test(name)) return 'lower-case letters, digits, "-" and single "_" between them, starting with a letter';
  return undefined;
}

function repair(name: string, separator: string): string {
  const words = name
    .replace(/([a-z0-9])([A-Z])/g, `$1${separator}$2`)
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, separator)
    .replace(/^[^a-z]+|[^a-z0-9]+$/g, "");
  return words === "" ? "my" + separator + "name" : words;
}
