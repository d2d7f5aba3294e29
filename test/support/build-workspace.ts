import { spawn } from "node:child_process";
import { once } from "node:events";
import { cpSync, existsSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { tempFolder } from "./temp-folder.ts";

/** Root of the repository. */
export const ROOT: string = resolve(import.meta.dirname, "../..");

export interface BuiltWorkspace extends Disposable {
  readonly root: string;
  /** Path of the `server.mjs` of a member. */
  server(member: string): string;
}

/**
 * Copies members into a workspace of their own and builds them with `eve build`, so that a test never touches the
 * builds of somebody who works in the repository.
 *
 * @param members Folders of members, below the root of the repository.
 * @param files Files to add or replace, by path below the workspace.
 */
export async function buildWorkspace(
  members: readonly string[],
  files: Readonly<Record<string, string>> = {},
): Promise<BuiltWorkspace> {
  const folder = tempFolder();
  try {
    const dirs = members.map((member) => copyMember(join(ROOT, member), folder.path));
    write(folder.path, { "pnpm-workspace.yaml": "packages: [agents/*]\n", ...files });
    await Promise.all(dirs.map(build));
  } catch (error) {
    folder[Symbol.dispose]();
    throw error;
  }
  return {
    root: folder.path,
    server: (member) => join(folder.path, "agents", member, ".eve/build/server.mjs"),
    [Symbol.dispose]: () => folder[Symbol.dispose](),
  };
}

function copyMember(source: string, root: string): string {
  const target = join(root, "agents", basename(source));
  const leftOut = new Set(["node_modules", ".eve", ".turbo"]);
  cpSync(source, target, { recursive: true, filter: (path) => !leftOut.has(basename(path)) });
  const installed = join(source, "node_modules");
  // Fixtures are no packages of the workspace: they use what foreman has.
  symlinkSync(
    existsSync(installed) ? installed : join(ROOT, "agents/foreman/node_modules"),
    join(target, "node_modules"),
  );
  return target;
}

function write(root: string, files: Readonly<Record<string, string>>): void {
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), content);
  }
}

async function build(cwd: string): Promise<void> {
  const child = spawn(process.execPath, ["node_modules/eve/bin/eve.mjs", "build"], {
    cwd,
    stdio: ["ignore", "pipe", "pipe"],
  });
  let output = "";
  for (const pipe of [child.stdout, child.stderr])
    pipe.setEncoding("utf8").on("data", (text: string) => (output += text));
  const [code] = (await once(child, "close")) as [number | null];
  if (code !== 0) throw new Error(`eve build failed in ${basename(cwd)}:\n${output}`);
}
