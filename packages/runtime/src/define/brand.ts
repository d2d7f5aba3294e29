/**
 * Definitions are plain frozen objects with a brand, so that a definition made by another copy of this package
 * (a bundle, a linked workspace) is still recognised.
 */
const BRAND = Symbol.for("eve.definition");

export type DefinitionKind =
  | "agent"
  | "tool"
  | "disabled-tool"
  | "root-agent"
  | "remote-agent"
  | "workspace-agent"
  | "instructions"
  | "sandbox"
  | "channel";

/** Freezes `definition` and marks it as a definition of `kind`. */
export function brand<T extends object>(kind: DefinitionKind, definition: T): T {
  Object.defineProperty(definition, BRAND, { value: kind });
  return Object.freeze(definition);
}

/** The kind of a definition, or `undefined` for anything else. */
export function kindOf(value: unknown): DefinitionKind | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  return (value as Record<symbol, unknown>)[BRAND] as DefinitionKind | undefined;
}
