import { relative, resolve, sep } from "node:path";
import { build, type BuildFailure, type BuildOptions, type Message, type Metafile } from "esbuild";
import type { Diagnostic, DiscoveredMember, DiscoveredModule } from "../../discover/index.ts";
import { declaredDependenciesPlugin, isAuthored } from "./declared-dependencies.ts";
import { toDiagnostic } from "./esbuild-diagnostic.ts";
import { shakeZodPlugin } from "./shake-zod.ts";
import { entriesPlugin, entryPoint, type EntryName } from "./entries.ts";

export interface BundleOptions {
  readonly member: DiscoveredMember;
  /** Where the files will be: source maps are relative to it. */
  readonly outDir: string;
  /** Workspace root, or the member alone. Paths inside the bundle are relative to it. */
  readonly root: string;
  /** Folder that the paths of diagnostics are relative to. */
  readonly base: string;
  /** Entry points; `loaders` alone is enough to read definitions. */
  readonly entries: readonly EntryName[];
}

interface Bundle {
  /** Path below the output folder → content. */
  readonly files: ReadonlyMap<string, Uint8Array>;
  readonly metafile: Metafile;
}

export interface BundleResult {
  /** Absent when nothing could be bundled. */
  readonly bundle?: Bundle;
  /** The modules in the bundle: all of them when there is no error, else those that are not broken. */
  readonly modules: readonly DiscoveredModule[];
  readonly diagnostics: readonly Diagnostic[];
}

/**
 * Bundles the modules of a member with their dependencies. When some are broken, the others are bundled without
 * the server, so that their definitions are checked in the same run.
 */
export async function bundleMember(
  modules: readonly DiscoveredModule[],
  options: BundleOptions,
): Promise<BundleResult> {
  const whole = await attempt(modules, options);
  if (whole.bundle || modules.length === 0) return whole;

  const alone: BundleOptions = { ...options, entries: ["loaders"] };
  const attempts = await Promise.all(modules.map((module) => attempt([module], alone)));
  const sound = modules.filter((_, index) => attempts[index]!.bundle);
  const diagnostics = [whole, ...attempts].flatMap((result) => result.diagnostics);
  if (sound.length === 0) return { modules: [], diagnostics };
  const { bundle } = await attempt(sound, alone);
  return { ...(bundle && { bundle }), modules: sound, diagnostics };
}

async function attempt(modules: readonly DiscoveredModule[], options: BundleOptions): Promise<BundleResult> {
  const packageFile = resolve(options.member.dir, "package.json");
  const toErrors = (errors: readonly Message[]): Diagnostic[] =>
    errors
      // Discovery has said already that it can not be read.
      .filter(({ location }) => !location || resolve(options.root, location.file) !== packageFile)
      .map((message) => toDiagnostic(message, "error", options));
  // A warning about code of somebody else helps nobody who reads it.
  const toWarnings = (warnings: readonly Message[]): Diagnostic[] =>
    warnings
      .filter(({ location }) => location && isAuthored(options.member.dir, resolve(options.root, location.file)))
      .map((message) => toDiagnostic(message, "warning", options));
  try {
    const { outputFiles, metafile, warnings } = await build(esbuildOptions(modules, options));
    const files = new Map(
      outputFiles.map((file) => [relative(options.outDir, file.path).split(sep).join("/"), file.contents]),
    );
    return { bundle: { files, metafile }, modules, diagnostics: toWarnings(warnings) };
  } catch (error) {
    if (!isBuildFailure(error)) throw error;
    return { modules: [], diagnostics: [...toErrors(error.errors), ...toWarnings(error.warnings)] };
  }
}

function esbuildOptions(
  modules: readonly DiscoveredModule[],
  { member, outDir, root, entries }: BundleOptions,
): BuildOptions & { write: false; metafile: true } {
  return {
    absWorkingDir: root,
    entryPoints: entries.map(entryPoint),
    outdir: outDir,
    outExtension: { ".js": ".mjs" },
    chunkNames: "chunks/[name]-[hash]",
    bundle: true,
    splitting: true,
    format: "esm",
    platform: "node",
    target: "node20",
    treeShaking: true,
    sourcemap: "linked",
    sourcesContent: false,
    legalComments: "none",
    banner: { js: COMMONJS_GLOBALS },
    // `define` renames only free variables: a module may have a `__dirname` of its own.
    define: { __dirname: "__eveDirname", __filename: "__eveFilename" },
    plugins: [
      entriesPlugin(member.dir, modules),
      declaredDependenciesPlugin(member),
      shakeZodPlugin((path) => isAuthored(member.dir, path)),
    ],
    write: false,
    metafile: true,
    logLevel: "silent",
    logLimit: 0,
  };
}

// CommonJS packages inside an ESM bundle. esbuild renames an authored top-level `require` away from this one.
const COMMONJS_GLOBALS = [
  `import { createRequire as __eveCreateRequire } from "node:module";`,
  `const require = __eveCreateRequire(import.meta.url);`,
  `const __eveFilename = import.meta.filename, __eveDirname = import.meta.dirname;`,
].join("\n");

function isBuildFailure(error: unknown): error is BuildFailure {
  return error instanceof Error && Array.isArray((error as Partial<BuildFailure>).errors);
}
