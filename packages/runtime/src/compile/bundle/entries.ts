import type { Plugin } from "esbuild";
import type { DiscoveredModule } from "../../discover/index.ts";

const NAMESPACE = "eve-entry";
/** How generated entries import one another. */
export const ENTRY_PREFIX: string = `${NAMESPACE}:`;

/**
 * The generated entry points of a bundle:
 *
 * - `loaders.mjs` exports one `import()` per authored module, so that a module that throws hides no other one when
 *   the build reads the definitions;
 * - `modules.mjs` loads them all and exports the table that the runtime takes;
 * - `server.mjs` serves the member.
 */
export function entriesPlugin(memberDir: string, modules: readonly DiscoveredModule[]): Plugin {
  const contents: Record<string, string> = { loaders: loadersSource(modules), modules: MODULES, server: SERVER };
  return {
    name: NAMESPACE,
    setup(build) {
      build.onResolve({ filter: /^eve-entry:/ }, ({ path }) => ({
        path: path.slice(ENTRY_PREFIX.length),
        namespace: NAMESPACE,
      }));
      build.onLoad({ filter: /.*/, namespace: NAMESPACE }, ({ path }) => ({
        contents: contents[path]!,
        loader: "js",
        resolveDir: memberDir,
      }));
    },
  };
}

export function entryPoint(name: "loaders" | "modules" | "server"): { in: string; out: string } {
  return { in: ENTRY_PREFIX + name, out: name };
}

function loadersSource(modules: readonly DiscoveredModule[]): string {
  const lines = modules.map(
    ({ source }) => `  ${JSON.stringify(source)}: () => import(${JSON.stringify(`./agent/${source}`)}),`,
  );
  return `export const loaders = {\n${lines.join("\n")}\n};\n`;
}

// One after the other: the order in which authored modules run must not depend on the speed of the disk.
const MODULES = `
import { loaders } from "eve-entry:loaders";

export const modules = {};
for (const source of Object.keys(loaders)) modules[source] = (await loaders[source]()).default;
`;

const SERVER = `
import { readFileSync } from "node:fs";
import { serve } from "eve/serve";
import { modules } from "eve-entry:modules";

const manifest = JSON.parse(readFileSync(new URL("./manifest.json", import.meta.url), "utf8"));
await serve({ manifest, modules });
`;
