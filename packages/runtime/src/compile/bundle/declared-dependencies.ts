import { isBuiltin } from "node:module";
import { sep } from "node:path";
import type { Plugin } from "esbuild";
import { near } from "../../define/closest.ts";
import type { DiscoveredMember } from "../../discover/index.ts";
import { ENTRY_PREFIX } from "./entries.ts";

/**
 * Refuses imports of packages that the member's own `package.json` does not declare (contract §2.1): a workspace
 * often finds them anyway, hoisted for somebody else, and the build of this member alone would not.
 */
export function declaredDependenciesPlugin(member: DiscoveredMember): Plugin {
  const checked = Symbol("checked");
  const { dependencies } = member;
  return {
    name: "eve-declared-dependencies",
    setup(build) {
      build.onResolve({ filter: /^[^./#]/ }, async ({ path, pluginData, ...from }) => {
        if (dependencies === undefined || pluginData === checked || from.kind === "entry-point") return undefined;
        // Generated entries stand for the member: it has to declare `eve` even if no module of it imports that.
        if (from.namespace === "file" && !isAuthored(member.dir, from.importer)) return undefined;
        const name = packageName(path);
        if (isBuiltin(path) || path.startsWith(ENTRY_PREFIX) || dependencies.has(name)) return undefined;

        // A path alias of the member's tsconfig looks like a package.
        const resolved = await build.resolve(path, { ...from, pluginData: checked });
        if (resolved.errors.length === 0 && isAuthored(member.dir, resolved.path)) return resolved;
        const detail = {
          code: "DEPENDENCY_UNDECLARED",
          fix: toFix(member, name, dependencies),
        };
        return { errors: [{ text: `"${name}" is imported but not declared as a dependency.`, detail }] };
      });
    },
  };
}

/** True for a file that belongs to the member and not to a package installed in it. */
export function isAuthored(memberDir: string, path: string): boolean {
  if (!path.startsWith(memberDir + sep)) return false;
  const [first] = path.slice(memberDir.length + 1).split(sep);
  return first !== "node_modules" && first !== ".eve";
}

function toFix({ name: member }: DiscoveredMember, name: string, dependencies: ReadonlySet<string>): string {
  const file = `agents/${member}/package.json`;
  if (name === "eve") return `Add "eve": "workspace:*" to the dependencies of ${file}.`;
  const command = `\`pnpm --filter ./agents/${member} add ${name}\``;
  const meant = near(name, [...dependencies]);
  return meant === undefined
    ? `Run ${command}, which adds it to ${file}.`
    : `Import "${meant}", which is declared, or run ${command}.`;
}

function packageName(specifier: string): string {
  return specifier.split("/", specifier.startsWith("@") ? 2 : 1).join("/");
}
