import { envFilesOf, readEnvFile, resolveEnv, type Env } from "../../discover/index.ts";
import { isUnderPlatform } from "./platform.ts";

export interface DevEnv {
  /** Files that the variables come from, whether they exist or not. */
  readonly files: readonly string[];
  /** Reads the files again into `process.env`, where every process that is started finds them; true for a change. */
  refresh(): boolean;
}

/** The variables of a member during development: those of this process, and those of its `.env` files. */
export function createDevEnv(memberDir: string, root: string | undefined, env: NodeJS.ProcessEnv): DevEnv {
  const files = envFilesOf(memberDir, root);
  const own = ownVariables(env, files, root !== undefined && isUnderPlatform(env));
  let known = JSON.stringify(own);
  return {
    files,
    refresh: () => {
      const next = resolveEnv(files, own);
      const text = JSON.stringify(next);
      if (text === known) return false;
      known = text;
      for (const name of Object.keys(env)) if (!(name in next)) delete env[name];
      Object.assign(env, next);
      return true;
    },
  };
}

/**
 * The platform's CLI hands the root's files on as if they were the environment. What has the value of such a file is
 * taken as that file's, so that the member's own files win over it, and a change of it is seen.
 */
function ownVariables(env: Env, files: readonly string[], handedOn: boolean): Env {
  if (!handedOn) return { ...env };
  const fromFiles = files.slice(0, 2).map(readEnvFile);
  return Object.fromEntries(
    Object.entries(env).filter(([name, value]) => !fromFiles.some((file) => file[name] === value)),
  );
}
