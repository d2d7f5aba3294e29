import { envFilesOf, resolveEnv, type DiscoveredNode, type Env, type Report } from "../discover/index.ts";
import type { DefinitionSummary } from "./evaluate/evaluation.ts";
import { lineOfOption, readSource } from "./locate.ts";

export interface RequiredEnvInput {
  readonly nodes: readonly DiscoveredNode[];
  readonly definitions: ReadonlyMap<string, DefinitionSummary>;
  readonly memberDir: string;
  readonly root: string | undefined;
  readonly env: Env;
  readonly report: Report;
}

/**
 * The variables that the agents of a member need, sorted. One that is not set here is a warning: where a member is
 * built there are often no secrets, and what counts is where it starts.
 */
export function readRequiredEnv({ nodes, definitions, memberDir, root, env, report }: RequiredEnvInput): string[] {
  const required = new Set<string>();
  let known: Env | undefined;
  for (const { agent } of nodes) {
    const definition = agent && definitions.get(agent.source);
    if (definition?.kind !== "agent") continue;
    const names = definition.requiredEnv ?? [];
    if (names.length === 0) continue;
    known ??= resolveEnv(envFilesOf(memberDir, root), env);
    const unset = names.filter((name) => !known![name]);
    if (unset.length > 0) {
      const line = lineOfOption(readSource(agent!.path), "requiredEnv");
      const message = `Not set here: ${unset.join(", ")}.`;
      const fix = "Set what is missing where the member starts, for this machine in .env.local.";
      report("ENV_UNSET", agent!.path, line, message, fix, "warning");
    }
    for (const name of names) required.add(name);
  }
  return [...required].sort();
}
