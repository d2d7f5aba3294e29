import { randomUUID } from "node:crypto";
import { existsSync, realpathSync, rmSync } from "node:fs";
import { join, resolve, sep } from "node:path";
import { fileURLToPath } from "node:url";
import type { Metafile } from "esbuild";
import {
  discoverMember,
  discoverWorkspace,
  reportTo,
  sortDiagnostics,
  type Diagnostic,
  type DiscoveredNode,
} from "../discover/index.ts";
import type { Manifest } from "../protocol/manifest.ts";
import { assembleNodes, toManifest } from "./assemble.ts";
import { bundleMember, type BundleOptions } from "./bundle/bundle-member.ts";
import { bundleShell, SHELL_FILE } from "./bundle/bundle-shell.ts";
import { checkModules, modulesOf } from "./check-modules.ts";
import { withDefaultTools } from "./default-tools.ts";
import { ENTRY_PREFIX } from "./bundle/entries.ts";
import { createEvaluator } from "./evaluate/create-evaluator.ts";
import type { DefinitionSummary } from "./evaluate/evaluation.ts";
import { writeFunctionFolder } from "./function-folder.ts";
import { replaceFolder, writeFiles } from "./output-folder.ts";
import { readRequiredEnv } from "./required-env.ts";
import { resolvePeers } from "./resolve-peers.ts";
import { readSeedFiles } from "./seed-files.ts";

export interface CompileOptions {
  /** Folder of the member: the one that holds `agent/`. */
  readonly memberDir: string;
  /** Default `.eve/build` in the member's folder, `.eve/dev` in `dev` mode. */
  readonly outDir?: string;
  readonly mode?: "build" | "dev";
  /** How long one module may take to load, in milliseconds. Default 20,000. */
  readonly timeoutMs?: number;
}

export type CompileResult =
  | {
      readonly ok: true;
      readonly manifest: Manifest;
      /** Holds `modules.mjs`, `manifest.json`, `chunks/`, source maps and, except in `dev` mode, `server.mjs`. */
      readonly outDir: string;
      /** Absolute path of `server.mjs`, which serves the member; in `dev` mode of `modules.mjs`. */
      readonly entry: string;
      /** Size of the member's code, without source maps, seeds and the embedded shell. */
      readonly bytes: number;
      readonly diagnostics: readonly [];
      readonly warnings: readonly Diagnostic[];
      /** Absolute paths of what was read outside the member's folder, packages left out. */
      readonly outside: readonly string[];
    }
  | {
      readonly ok: false;
      /** The errors, sorted by path and line. */
      readonly diagnostics: readonly Diagnostic[];
      readonly warnings: readonly Diagnostic[];
      readonly outside: readonly string[];
    };

/**
 * Compiles one member: authored files → diagnostics, manifest and bundle (contract §3, §4). Every problem is
 * collected before it returns. A build that fails leaves the last good one where it is.
 *
 * @example
 * const result = await compileMember({ memberDir: "agents/foreman" });
 * if (!result.ok) for (const diagnostic of result.diagnostics) console.error(formatDiagnostic(diagnostic));
 */
export async function compileMember(options: CompileOptions): Promise<CompileResult> {
  const memberDir = toRealPath(options.memberDir);
  const outDir = resolve(options.outDir ?? join(memberDir, ".eve", options.mode ?? "build"));
  const workspace = discoverWorkspace(memberDir);
  const base = workspace?.root ?? process.cwd();
  const discovered = discoverMember({ memberDir, base });
  const member = { ...discovered, nodes: discovered.nodes.map(withDefaultTools) };
  if (member.nodes.length === 0) {
    return { ok: false, diagnostics: sortDiagnostics(member.diagnostics), warnings: [], outside: [] };
  }
  const diagnostics: Diagnostic[] = [...member.diagnostics];
  const report = reportTo(diagnostics, base);

  // Beside the final folder and equally deep, so that relative source maps already fit while definitions load.
  const draftDir = `${outDir}.${randomUUID()}`;
  const scratchDir = `${draftDir}.peers`;
  const isDev = options.mode === "dev";
  const evaluator = createEvaluator(options.timeoutMs ?? 20_000, isDev);
  const outside = new Set<string>();
  try {
    // The process that reads definitions starts while the bundler works.
    evaluator.warm();
    // During development the runtime's own source is the shell.
    const shell = isDev ? undefined : bundleShell();
    const slots = modulesOf(member.nodes);
    // Not `base`: a bundle must not depend on the folder that the command was started in.
    const bundleOptions: BundleOptions = {
      member,
      outDir,
      root: workspace?.root ?? memberDir,
      base,
      // During development a process that runs from source serves the modules.
      entries: isDev ? ["loaders", "modules"] : ["loaders", "modules", "server", "function"],
    };
    const { bundle, modules, diagnostics: problems } = await bundleMember(slots, bundleOptions);
    diagnostics.push(...problems);
    for (const path of sourcesOutside(memberDir, bundleOptions.root, bundle?.metafile)) outside.add(path);
    writeFiles(draftDir, bundle?.files ?? new Map());
    const outcomes = await evaluator.evaluate(
      join(draftDir, "loaders.mjs"),
      modules.map(({ source }) => source),
    );
    const definitions = checkModules(memberDir, slots, outcomes, report);
    const peerDescriptions = await resolvePeers(member.nodes, definitions, {
      member,
      workspace,
      base,
      evaluator,
      scratchDir,
      report,
      diagnostics,
      onRead: (path) => outside.add(path),
    });
    const requiredEnv = readRequiredEnv({
      nodes: member.nodes,
      definitions,
      memberDir,
      root: workspace?.root,
      env: process.env,
      // During development the start of the member says it.
      report: isDev ? () => {} : report,
    });
    const seeds = readSeedFiles(member.nodes);
    const nodes = assembleNodes({ member, definitions, peerDescriptions, seeds: seeds.seeds, report });

    const sorted = sortDiagnostics(diagnostics);
    const warnings = sorted.filter(({ severity }) => severity === "warning");
    const errors = sorted.filter(({ severity }) => severity === "error");
    if (errors.length > 0 || bundle === undefined) {
      return { ok: false, diagnostics: errors, warnings, outside: [...outside] };
    }

    const shellFiles = needsShell(member.nodes, definitions) ? await shell : undefined;
    const besides = new Map([...seeds.files, ...(shellFiles ?? [])]);
    const all = new Map([...bundle.files, ...besides]);
    const manifest = toManifest(member, nodes, all, requiredEnv, shellFiles && SHELL_FILE);
    const manifestFile = `${JSON.stringify(manifest, null, 2)}\n`;
    writeFiles(draftDir, new Map<string, Uint8Array | string>([...besides, ["manifest.json", manifestFile]]));
    replaceFolder(outDir, draftDir);
    if (options.outDir === undefined && options.mode !== "dev") {
      writeFunctionFolder({ member, outDir, root: bundleOptions.root, ...bundle, besides, manifest: manifestFile });
    }
    const bytes = [...bundle.files].reduce((sum, [name, file]) => sum + (name.endsWith(".map") ? 0 : file.length), 0);
    const entry = join(outDir, isDev ? "modules.mjs" : "server.mjs");
    return { ok: true, manifest, outDir, entry, bytes, diagnostics: [], warnings, outside: [...outside] };
  } finally {
    evaluator.close();
    rmSync(draftDir, { recursive: true, force: true });
    rmSync(scratchDir, { recursive: true, force: true });
  }
}

/** False when every agent of the member has a provider of its own for its sandboxes. */
function needsShell(nodes: readonly DiscoveredNode[], definitions: ReadonlyMap<string, DefinitionSummary>): boolean {
  return nodes.some(({ sandbox }) => {
    const definition = sandbox?.module && definitions.get(sandbox.module.source);
    return definition?.kind !== "sandbox" || definition.provider === undefined;
  });
}

const RUNTIME = fileURLToPath(new URL("../../", import.meta.url));

/** What a bundle was made from besides the member's own files, this package and installed ones. */
function sourcesOutside(memberDir: string, root: string, metafile: Metafile | undefined): string[] {
  return Object.keys(metafile?.inputs ?? {})
    .filter((input) => !input.startsWith(ENTRY_PREFIX))
    .map((input) => resolve(root, input))
    .filter(
      (path) => !path.startsWith(memberDir + sep) && !path.startsWith(RUNTIME) && !/[\\/]node_modules[\\/]/.test(path),
    );
}

/** esbuild and stack traces speak of real paths: through a link, no file would look authored. */
function toRealPath(folder: string): string {
  return existsSync(folder) ? realpathSync(folder) : resolve(folder);
}
