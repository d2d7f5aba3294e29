import { randomUUID } from "node:crypto";
import { relative, resolve, sep, join } from "node:path";
import type { Metafile } from "esbuild";
import type { DiscoveredMember } from "../discover/index.ts";
import { replaceFolder, writeFiles } from "./output-folder.ts";

/** Packages by which the platform takes a member for an app of that framework. */
const FRAMEWORKS = ["@nestjs/core", "express", "hono", "elysia", "fastify", "koa", "h3"];

export interface FunctionFolderOptions {
  readonly member: Pick<DiscoveredMember, "dir" | "dependencies">;
  readonly files: ReadonlyMap<string, Uint8Array>;
  /** What nothing imports: seeds, the embedded shell. */
  readonly besides: ReadonlyMap<string, Uint8Array>;
  readonly metafile: Metafile;
  /** The folder that paths in `metafile` are relative to. */
  readonly root: string;
  /** The folder that names of `files` are relative to. */
  readonly outDir: string;
  readonly manifest: string;
}

/**
 * Writes `dist/`, which the platform makes the function from, file by file: `index.mjs`, what that imports, what it
 * reads, and the manifest. A folder of its own because the platform searches no hidden one.
 */
export function writeFunctionFolder(options: FunctionFolderOptions): void {
  const { member, files, besides, manifest } = options;
  const content = new Map<string, Uint8Array | string>([...besides, ["manifest.json", manifest]]);
  for (const name of reachable("function.mjs", options)) content.set(name, files.get(name)!);
  content.set("index.mjs", toEntry(files.get("function.mjs")!, member.dependencies));
  content.delete("function.mjs");

  const draft = join(member.dir, `.eve/dist.${randomUUID()}`);
  writeFiles(draft, content);
  replaceFolder(join(member.dir, "dist"), draft);
}

/** Of a member that depends on a web framework the platform takes only an entry whose text imports that framework. */
function toEntry(code: Uint8Array, dependencies: ReadonlySet<string> | undefined): string {
  const named = FRAMEWORKS.filter((name) => dependencies?.has(name));
  return [Buffer.from(code).toString("utf8"), ...named.map((name) => `// Bundled, not: import "${name}"\n`)].join("");
}

/** The output file `entry` and all that it imports, also on demand. */
function reachable(entry: string, { metafile, root, outDir }: FunctionFolderOptions): string[] {
  const imports = new Map(
    Object.entries(metafile.outputs).map(([path, output]) => [
      toName(path),
      output.imports.filter(({ external }) => external !== true).map((imported) => toName(imported.path)),
    ]),
  );
  const names = new Set([entry]);
  for (const name of names) for (const imported of imports.get(name) ?? []) names.add(imported);
  return [...names];

  function toName(path: string): string {
    return relative(outDir, resolve(root, path)).split(sep).join("/");
  }
}
