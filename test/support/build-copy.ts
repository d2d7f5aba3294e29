import { spawn } from "node:child_process";
import { once } from "node:events";
import { cpSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "./build-workspace.ts";
import { copyWorkspace } from "./dev-workspace.ts";

/** A copy of this workspace in which `pnpm build` can run: with all that turbo reads. */
export function copyForBuild(): ReturnType<typeof copyWorkspace> {
  const copy = copyWorkspace();
  for (const file of ["turbo.json", "pnpm-lock.yaml", ".gitignore"]) cpSync(join(ROOT, file), join(copy.root, file));
  // The copy borrows what is installed here: nothing may install into it.
  const settings = join(copy.root, "pnpm-workspace.yaml");
  writeFileSync(
    settings,
    readFileSync(settings, "utf8").replace("verifyDepsBeforeRun: install", "verifyDepsBeforeRun: false"),
  );
  // Turbo looks for packages in real folders only.
  rmSync(join(copy.root, "packages"));
  const runtime = join(copy.root, "packages/runtime");
  mkdirSync(runtime, { recursive: true });
  for (const part of ["package.json", "tsconfig.json", "bin", "src"]) {
    cpSync(join(ROOT, "packages/runtime", part), join(runtime, part), { recursive: true });
  }
  symlinkSync(join(ROOT, "packages/runtime/node_modules"), join(runtime, "node_modules"));
  return copy;
}

export interface BuildRun {
  readonly code: number | null;
  /** What `--json` printed. */
  readonly result: {
    readonly ok: boolean;
    readonly output?: string;
    readonly seconds?: number;
    readonly failed?: readonly string[];
    readonly functions?: readonly { member: string; cached: boolean; path: string; bytes: number; files: number }[];
  };
  readonly log: string;
}

/** `pnpm build --json`, without the settings of whoever runs the tests. */
export async function runBuild(root: string, env: NodeJS.ProcessEnv = {}): Promise<BuildRun> {
  const child = spawn(process.execPath, ["scripts/build.ts", "--json"], {
    cwd: root,
    env: { PATH: process.env.PATH, HOME: root, ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let output = "";
  let log = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => (output += text));
  child.stderr.setEncoding("utf8").on("data", (text: string) => (log += text));
  const [code] = (await once(child, "close")) as [number | null];
  if (output === "") throw new Error(`pnpm build printed no result:\n${log}`);
  return { code, result: JSON.parse(output) as BuildRun["result"], log };
}
