import { fileURLToPath } from "node:url";
import { relative, sep } from "node:path";
import { build, type Plugin } from "esbuild";

const ENTRY = fileURLToPath(new URL("../../sandbox/embedded/worker.ts", import.meta.url));
const FOLDER = "shell";

/** File of a build that runs a command of the embedded shell. */
export const SHELL_FILE = `${FOLDER}/worker.mjs`;

let bundled: Promise<ReadonlyMap<string, Uint8Array>> | undefined;

/**
 * The embedded shell as files of a build: apart from the member's own code, because only the thread of a command loads
 * it. The same for all members, so a process makes it once.
 */
export function bundleShell(): Promise<ReadonlyMap<string, Uint8Array>> {
  return (bundled ??= bundle());
}

async function bundle(): Promise<ReadonlyMap<string, Uint8Array>> {
  const outdir = fileURLToPath(new URL("shell-output/", import.meta.url));
  const { outputFiles } = await build({
    entryPoints: [{ in: ENTRY, out: "worker" }],
    outdir,
    outExtension: { ".js": ".mjs" },
    chunkNames: "[name]-[hash]",
    bundle: true,
    // A command loads what it runs: of 80 programs mostly two or three.
    splitting: true,
    format: "esm",
    platform: "node",
    target: "node20",
    // The package comes without white space, which would be put in again.
    minifyWhitespace: true,
    legalComments: "none",
    banner: {
      js: `import{createRequire as __eveRequire}from"node:module";const require=__eveRequire(import.meta.url);`,
    },
    plugins: [leaveOut],
    write: false,
    logLevel: "silent",
  });
  return new Map(
    outputFiles.map(({ path, contents }) => [`${FOLDER}/${relative(outdir, path).split(sep).join("/")}`, contents]),
  );
}

/** Engines of commands that the embedded shell does not have: SQL, JavaScript, Python, HTTP. */
const PACKAGES = /^(?:sql\.js|quickjs-emscripten|turndown|undici|@mongodb-js\/zstd|node-liblzma)$/;
const CHUNKS = /\/(?:sqlite3|js-exec|python3|curl|html-to-markdown|undici|flag-coverage)-[A-Z0-9]{8}\.js$/;

const leaveOut: Plugin = {
  name: "eve-leave-out",
  setup(setup) {
    for (const filter of [PACKAGES, CHUNKS])
      setup.onResolve({ filter }, ({ path }) => ({ path, namespace: "left-out" }));
    setup.onLoad({ filter: /.*/, namespace: "left-out" }, () => ({ contents: "module.exports = {};", loader: "js" }));
  },
};
