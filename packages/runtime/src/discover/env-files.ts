import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parseEnv } from "node:util";
import { AgentError } from "../errors.ts";

export type Env = Readonly<Record<string, string | undefined>>;

/** The files that may hold variables of a member, the weakest first. */
export function envFilesOf(memberDir: string, root: string | undefined): string[] {
  const folders = root === undefined || root === memberDir ? [memberDir] : [root, memberDir];
  return folders.flatMap((folder) => [join(folder, ".env"), join(folder, ".env.local")]);
}

/**
 * The variables of a member on this machine: those of the process win over those of its files, a member's files over
 * those of the workspace, `.env.local` over `.env`.
 *
 * @throws AgentError `CONFIG_INVALID` for a file that can not be read.
 */
export function resolveEnv(files: readonly string[], own: Env): Env {
  return Object.assign({}, ...files.map(readEnvFile), own) as Env;
}

/** The variables of one file; none when there is no such file. */
export function readEnvFile(path: string): Record<string, string> {
  try {
    return parseEnv(readFileSync(path, "utf8")) as Record<string, string>;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT") return {};
    throw new AgentError("CONFIG_INVALID", `An environment file can not be read (${code ?? "unknown"}).`, {
      fix: "Make .env and .env.local, here and at the root of the workspace, readable files.",
    });
  }
}
