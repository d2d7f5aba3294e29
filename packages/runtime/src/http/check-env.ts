import { AgentError } from "../errors.ts";
import type { Manifest } from "../protocol/manifest.ts";

/**
 * Refuses to run a member without the variables that it declares (`requiredEnv`): one clear error at the start instead
 * of one in the middle of somebody's conversation. Names only, never values.
 *
 * @throws AgentError `ENV_MISSING`
 */
export function checkEnv(
  { member, requiredEnv = [] }: Manifest,
  env: Readonly<Record<string, string | undefined>>,
): void {
  const missing = requiredEnv.filter((name) => !env[name]);
  if (missing.length === 0) return;
  const what = missing.length === 1 ? "this variable, which is not set" : "these variables, which are not set";
  const where =
    env.VERCEL === "1" && env.VERCEL_ENV !== "development"
      ? "in the environment variables of the project, then deploy again"
      : `in agents/${member}/.env.local, in .env.local of the workspace, or in the environment of the process`;
  throw new AgentError("ENV_MISSING", `agents/${member} needs ${what}: ${missing.join(", ")}.`, {
    fix: `Set ${missing.length === 1 ? "it" : "them"} ${where}.`,
    data: { missing },
  });
}
