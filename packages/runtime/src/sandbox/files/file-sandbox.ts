import { randomUUID } from "node:crypto";
import { existsSync } from "node:fs";
import { readdir, rename, rm } from "node:fs/promises";
import { basename, join, posix } from "node:path";
import { AgentError, messageOf } from "../../errors.ts";
import type {
  RunOptions,
  RunResult,
  Sandbox,
  SandboxEntry,
  SandboxRequest,
  SeedFile,
} from "../../define/define-sandbox.ts";
import { locate, WORKSPACE } from "./locate.ts";
import { createTree, makeRoots, type Tree } from "./tree.ts";

/** Where the files of a sandbox are, for whatever runs its commands. */
export interface FilePlaces {
  readonly id: string;
  readonly files: string;
  readonly drafts: string;
}

export const DEFAULT_TIMEOUT_MS = 60_000;

/** Of this process: what another one has begun to write is left over. */
const RUN = randomUUID();

export function placesOf({ id, folder }: SandboxRequest): FilePlaces {
  return { id, files: join(folder, "files"), drafts: join(folder, "drafts", RUN) };
}

/** Makes the files of a sandbox from its seed: all of them, or none that {@link hasFiles} sees. */
export async function createFiles(request: SandboxRequest, seed: readonly SeedFile[]): Promise<FilePlaces> {
  const places = placesOf(request);
  await rm(join(request.folder, "drafts"), { recursive: true, force: true });
  await rm(places.files, { recursive: true, force: true });
  const draft = join(places.drafts, "files");
  await makeRoots(draft);
  const tree = createTree(draft, places.drafts);
  for (const { path, content, executable } of seed) {
    const options = { parents: true, mode: executable ? 0o755 : 0o644 };
    await tree.write(posix.join(WORKSPACE, path), content, options);
  }
  await rename(draft, places.files);
  return places;
}

/** The files of a sandbox that was made before; `undefined` when there are none. */
export async function resumeFiles(request: SandboxRequest): Promise<FilePlaces | undefined> {
  const places = placesOf(request);
  if (!existsSync(places.files)) return undefined;
  const drafts = join(request.folder, "drafts");
  const left = existsSync(drafts) ? (await readdir(drafts)).filter((name) => name !== RUN) : [];
  await Promise.all(left.map((name) => rm(join(drafts, name), { recursive: true, force: true })));
  return places;
}

/** A sandbox whose files are on this machine. `run` gets the options with their defaults. */
export function createFileSandbox(
  { id, files, drafts }: FilePlaces,
  run: (options: Required<Omit<RunOptions, "signal">> & { readonly signal: AbortSignal }) => Promise<RunResult>,
): Sandbox {
  const tree = createTree(files, drafts);
  // Measures anew how much there is: commands write beside it.
  const write = ({ path, executable }: { path: string; executable?: boolean }, content: Uint8Array): Promise<void> =>
    failing(() =>
      createTree(files, drafts).write(path, content, {
        parents: true,
        ...(executable === undefined ? {} : { mode: executable ? 0o755 : 0o644 }),
      }),
    );
  return {
    id,
    run: async ({ command, cwd = WORKSPACE, env = {}, timeoutMs = DEFAULT_TIMEOUT_MS, signal }) => {
      // Nothing is awaited before the command runs: who deletes the sandbox now has to find it.
      const { path, host } = locateFolder(files, cwd);
      if (!existsSync(host))
        return { exitCode: 1, stdout: "", stderr: `bash: cd: ${path}: No such file or directory\n` };
      return run({ command, cwd: path, env, timeoutMs, signal: signal ?? new AbortController().signal });
    },
    readFile: ({ path }) => failing(() => tree.read(path)),
    readTextFile: ({ path }) => failing(async () => (await tree.read(path)).toString("utf8")),
    writeFile: ({ content, ...options }) => write(options, content),
    writeTextFile: ({ content, ...options }) => write(options, Buffer.from(content, "utf8")),
    stat: ({ path }) => failing(() => entryAt(tree, path)),
    list: ({ path }) =>
      failing(async () => {
        const names = await tree.list(path);
        const entries = await Promise.all(names.map((name) => entryAt(tree, posix.join(path, name))));
        return entries.filter((entry) => entry !== undefined);
      }),
    remove: ({ path }) =>
      failing(async () => {
        if ((await entryAt(tree, path)) !== undefined) await tree.remove(path, true);
      }),
  };
}

function locateFolder(files: string, cwd: string): { path: string; host: string } {
  try {
    return locate(files, cwd);
  } catch (error) {
    throw toSandboxError(error);
  }
}

async function entryAt(tree: Tree, path: string): Promise<SandboxEntry | undefined> {
  try {
    const { type, size, mode } = await tree.stat(path);
    return { name: basename(path), type, size, executable: type === "file" && (mode & 0o100) !== 0 };
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT" || code === "ENOTDIR") return undefined;
    throw error;
  }
}

async function failing<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw toSandboxError(error);
  }
}

function toSandboxError(cause: unknown): AgentError {
  return new AgentError("SANDBOX_FAILED", `${messageOf(cause)}.`, {
    fix: "Use a path below /workspace that exists.",
    cause,
  });
}
