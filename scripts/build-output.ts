import { spawn, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import type { Writable } from "node:stream";
import { pathToFileURL } from "node:url";
import { toMemberName, type WorkspaceConfig } from "eve/vercel";
import type { MemberTask } from "./build-members.ts";
import { showProgress } from "./build-progress.ts";

export type OutputState = "built" | "unchanged" | "failed";

export interface OutputOptions {
  readonly config: WorkspaceConfig;
  readonly tasks: readonly MemberTask[];
  /** Passed on to `vercel build`. */
  readonly args: readonly string[];
  readonly progress: Writable;
}

/** Evaluates `vercel.ts` as the platform's CLI will, with members that are built before it runs. */
export async function readConfig(root: string): Promise<WorkspaceConfig> {
  process.env.EVE_MEMBERS_BUILT = "1";
  const { default: config } = (await import(pathToFileURL(join(root, "vercel.ts")).href)) as {
    default: WorkspaceConfig;
  };
  return config;
}

/** Runs `vercel build`, unless `.vercel/output` is what it made of the same things. */
export async function buildOutput(root: string, options: OutputOptions): Promise<OutputState> {
  const cli = createRequire(join(root, "package.json")).resolve("vercel/package.json");
  const digest = digestOf(root, cli, options);
  const stamp = join(root, ".vercel/output/eve-build.json");
  if (digest !== undefined && readStamp(stamp) === digest) return "unchanged";

  ensureProject(root);
  rmSync(stamp, { force: true });
  const code = await runVercel(root, cli, options);
  if (code !== 0) return "failed";
  if (digest !== undefined) writeFileSync(stamp, `${JSON.stringify({ digest })}\n`);
  return "built";
}

/** Of all that the output follows from; `undefined` when there is a service of which that is not known. */
function digestOf(root: string, cli: string, { config, tasks, args }: OutputOptions): string | undefined {
  const others = hashOthers(root, config);
  if (others === undefined) return undefined;
  const version = (JSON.parse(readFileSync(cli, "utf8")) as { version: string }).version;
  const project = existsSync(projectFile(root)) ? readFileSync(projectFile(root), "utf8") : NEW_PROJECT;
  const env = Object.entries(process.env).filter(([name]) => /^(?:VERCEL|NEXT_PUBLIC)_/.test(name));
  const members = tasks.map(({ member, hash }) => [member, hash]);
  const content = [version, process.version, config, members.toSorted(), others, args, project, env.toSorted()];
  return createHash("sha256").update(JSON.stringify(content)).digest("hex");
}

/** Turbo's hashes of the user's own services. One that is no package with a build script is built every time. */
function hashOthers(root: string, { services = {} }: WorkspaceConfig): string[] | undefined {
  const roots = Object.entries(services).flatMap(([name, service]) =>
    service.root === `agents/${toMemberName(name)}` ? [] : [service.root],
  );
  if (roots.length === 0) return [];
  const turbo = join(root, "node_modules/turbo/bin/turbo");
  const filters = roots.map((path) => `--filter=./${path}`);
  const { stdout } = spawnSync(process.execPath, [turbo, "run", "build", "--dry=json", ...filters], {
    cwd: root,
    encoding: "utf8",
    env: { ...process.env, TURBO_TELEMETRY_DISABLED: "1", DO_NOT_TRACK: "1" },
  });
  const tasks = readTasks(stdout);
  const known = roots.every((path) => tasks.some(({ directory, command }) => directory === path && command !== NONE));
  return known ? tasks.map(({ directory, hash }) => `${directory} ${hash}`).toSorted() : undefined;
}

/** What turbo says of a package that has no such script. */
const NONE = "<NONEXISTENT>";

function readTasks(json: string): readonly { directory: string; hash: string; command: string }[] {
  try {
    return (JSON.parse(json) as { tasks: { directory: string; hash: string; command: string }[] }).tasks;
  } catch {
    return [];
  }
}

function readStamp(path: string): string | undefined {
  try {
    return (JSON.parse(readFileSync(path, "utf8")) as { digest: string }).digest;
  } catch {
    return undefined;
  }
}

/**
 * The CLI builds offline only when it finds settings, and asks for an account otherwise. A linked project has its own.
 * Everything is installed before this runs.
 */
function ensureProject(root: string): void {
  if (existsSync(projectFile(root))) return;
  mkdirSync(dirname(projectFile(root)), { recursive: true });
  writeFileSync(projectFile(root), NEW_PROJECT);
}

const NEW_PROJECT = `${JSON.stringify({ settings: { installCommand: "" } })}\n`;

function projectFile(root: string): string {
  return join(root, ".vercel/project.json");
}

async function runVercel(root: string, cli: string, { args, progress }: OutputOptions): Promise<number | null> {
  // `--standalone`: the files themselves, not a map of where they lie in the workspace.
  const options = ["build", "--standalone", "--yes", ...args];
  const child = spawn(process.execPath, [join(dirname(cli), "dist/vc.js"), ...options], {
    cwd: root,
    stdio: ["ignore", "pipe", "pipe"],
    env: {
      ...process.env,
      VERCEL_TELEMETRY_DISABLED: "1",
      VERCEL_INSTALL_COMPLETED: "1",
      // No look at the registry for another version.
      NO_UPDATE_NOTIFIER: "1",
      VERCEL_CLI_USE_NATIVE_BINARY: "0",
    },
  });
  showProgress([child.stdout, child.stderr], progress);
  const [code] = (await once(child, "close")) as [number | null];
  return code;
}
