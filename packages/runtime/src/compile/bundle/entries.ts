import type { Plugin } from "esbuild";
import type { DiscoveredModule } from "../../discover/index.ts";
import { isDefaultTool } from "../default-tools.ts";

const NAMESPACE = "eve-entry";
/** How generated entries import one another. */
export const ENTRY_PREFIX: string = `${NAMESPACE}:`;

export type EntryName = "loaders" | "modules" | "server" | "function";

/**
 * The generated entry points of a bundle:
 *
 * - `loaders.mjs` exports one `import()` per authored module, so that a module that throws hides no other one when
 *   the build reads the definitions;
 * - `modules.mjs` loads them all and exports the table that the runtime takes;
 * - `server.mjs` serves the member on a port;
 * - `function.mjs` exports it as a function of the platform.
 */
export function entriesPlugin(memberDir: string, modules: readonly DiscoveredModule[]): Plugin {
  const contents: Readonly<Record<EntryName, string>> = {
    loaders: loadersSource(modules),
    modules: MODULES,
    server: SERVER,
    function: FUNCTION,
  };
  return {
    name: NAMESPACE,
    setup(build) {
      build.onResolve({ filter: /^eve-entry:/ }, ({ path }) => ({
        path: path.slice(ENTRY_PREFIX.length),
        namespace: NAMESPACE,
      }));
      build.onLoad({ filter: /.*/, namespace: NAMESPACE }, ({ path }) => ({
        contents: contents[path as EntryName],
        loader: "js",
        resolveDir: memberDir,
      }));
    },
  };
}

export function entryPoint(name: EntryName): { in: string; out: string } {
  return { in: ENTRY_PREFIX + name, out: name };
}

function loadersSource(modules: readonly DiscoveredModule[]): string {
  const lines = modules.map(({ source }) => {
    // A default of the framework has the name of its package entry for a source.
    const specifier = isDefaultTool(source) ? source : `./agent/${source}`;
    return `  ${JSON.stringify(source)}: () => import(${JSON.stringify(specifier)}),`;
  });
  return `export const loaders = {\n${lines.join("\n")}\n};\n`;
}

// One after the other: the order in which authored modules run must not depend on the speed of the disk.
const MODULES = `
import { loaders } from "eve-entry:loaders";

export const modules = {};
for (const source of Object.keys(loaders)) modules[source] = (await loaders[source]()).default;
`;

// The platform's tracer reads `new URL(…)`: it puts the manifest into the function. Other files are in it by
// themselves: the platform takes the whole folder.
const BUNDLE = `
import { readFileSync } from "node:fs";
import { modules } from "eve-entry:modules";

const manifest = JSON.parse(readFileSync(new URL("./manifest.json", import.meta.url), "utf8"));
const folder = new URL(".", import.meta.url);
`;

const SERVER = `
import { exitWith, serve } from "eve/serve";
${BUNDLE}
await serve({ manifest, modules, folder }).catch(exitWith);
`;

const FUNCTION = `
import { createFunction } from "eve/function";
${BUNDLE}
export default createFunction({ manifest, modules, folder });
`;
