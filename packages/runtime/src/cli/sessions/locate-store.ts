import { existsSync } from "node:fs";
import { join, relative, resolve } from "node:path";
import { discoverWorkspace, envFilesOf, resolveEnv, type Env, type WorkspaceMember } from "../../discover/index.ts";
import { AgentError } from "../../errors.ts";
import { usageError } from "../usage-error.ts";
import type { Place } from "./parse-command.ts";

/** The store of a member on this machine. */
export interface StorePlace {
  readonly folder: string;
  readonly file: string;
  /** Its folder, for people. */
  readonly shown: string;
}

/**
 * Finds the store that the member of a folder uses, in the way `eve dev` and `eve start` do: `EVE_STORE`, from the
 * environment or a `.env` file, else `.eve/store` below the member.
 *
 * @throws a usage error when it is not said which member; AgentError `NOT_FOUND` when there is no store,
 * `CONFIG_INVALID` when a `.env` file can not be read.
 */
export function locateStore({ member, store }: Place, cwd: string, env: Env): StorePlace {
  const folder = store === undefined ? folderOf(member, cwd, env) : resolve(cwd, store);
  const file = join(folder, "store.db");
  const below = relative(cwd, folder) || ".";
  const shown = below.startsWith("..") ? folder : below;
  if (!existsSync(file)) {
    throw new AgentError("NOT_FOUND", `There is no store in ${shown}: the member has not run with it.`, {
      fix: "Start the member once, or say where its store is with --store <folder> or EVE_STORE.",
    });
  }
  return { folder, file, shown };
}

function folderOf(member: string | undefined, cwd: string, env: Env): string {
  const workspace = discoverWorkspace(cwd);
  const dir = memberDir(member, cwd, workspace?.members ?? []);
  const { EVE_STORE } = resolveEnv(envFilesOf(dir, workspace?.root), env);
  return resolve(dir, EVE_STORE ?? ".eve/store");
}

function memberDir(name: string | undefined, cwd: string, members: readonly WorkspaceMember[]): string {
  const known = members.map((member) => member.name).join(", ");
  if (name !== undefined) {
    const dir = members.find((member) => member.name === name)?.dir;
    if (dir !== undefined) return dir;
    throw usageError(
      members.length === 0
        ? `there is no workspace here that has a member "${name}".`
        : `there is no member "${name}"; there are ${known}.`,
    );
  }
  if (members.some(({ dir }) => dir === cwd) || existsSync(join(cwd, "agent"))) return cwd;
  throw usageError(
    members.length === 0
      ? "this folder is no member: run it in agents/<name>, or say which store with --store <folder>."
      : `say which member with --member <name>, or run it in its folder. There are ${known}.`,
  );
}
