import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { checkMemberName } from "../discover/names.ts";
import { AgentError } from "../errors.ts";
import { composeRoutes, ROUTE_KEYS, toMemberRoute } from "./compose-routes.ts";
import type { Route, ServiceBinding, ServiceConfig, WorkspaceConfig } from "./config.ts";
import { findPeers } from "./find-peers.ts";
import { toPeerVariable, toServiceName } from "./service-name.ts";

export interface WithEveOptions {
  /** Root of the workspace. Default: the working directory, where the platform evaluates `vercel.ts`. */
  readonly root?: string;
}

/**
 * Composes the platform's configuration of a workspace (contract §2.6): one service per member, mounted at
 * `/eve/<name>`, and the private address of every declared peer as `EVE_PEER_<NAME>_URL` (§10.4). The user's own
 * services, routes, headers, redirects and crons stay.
 *
 * @throws AgentError `CONFIG_INVALID` when it would have to overwrite something of the user, for a name that is not
 * allowed, or a peer that is not named by a plain string.
 * @example
 * // vercel.ts
 * export default await withEve({ crons: [{ path: "/eve/foreman/v1/health", schedule: "0 5 * * *" }] });
 */
export async function withEve(config: WorkspaceConfig = {}, options: WithEveOptions = {}): Promise<WorkspaceConfig> {
  const root = options.root ?? process.cwd();
  const members = membersOf(root);
  const services: Record<string, ServiceConfig> = { ...config.services };
  const routes = new Map<string, Route>();
  for (const member of members) {
    const service = toServiceName(member);
    if (Object.hasOwn(services, service)) throw serviceTaken(service, member);
    services[service] = {
      root: `agents/${member}`,
      framework: "node",
      entrypoint: ENTRYPOINT,
      devCommand: DEV_COMMAND,
      buildCommand: buildCommand(),
      outputDirectory: OUTPUT_DIRECTORY,
      bindings: toBindings(findPeers(root, member), member, members),
    };
    routes.set(member, toMemberRoute(member, service));
  }
  const rest = Object.fromEntries(
    Object.entries(config).filter(([key]) => !(ROUTE_KEYS as readonly string[]).includes(key)),
  );
  return { ...rest, services, routes: await composeRoutes(config, routes) };
}

/**
 * The platform's own word for "find it": it looks after the build, in `outputDirectory`. The path of a file that is
 * still to be built would make it drop the whole list of services, without a word.
 */
const ENTRYPOINT = "package.json";

/** Where `eve build` writes `index.mjs`. */
const OUTPUT_DIRECTORY = "dist";

/** `exec`: no shell between the platform's CLI and the supervisor, which ends when its parent is gone. */
const DEV_COMMAND = process.platform === "win32" ? "eve dev" : "exec eve dev";

/** `pnpm build` has built the members, through a cache, before it runs the platform's build. */
const buildCommand = (): string => (process.env.EVE_MEMBERS_BUILT === "1" ? "exit 0" : "eve build");

/** Every direct child of `agents/` that holds `agent/` (contract §2.1). Looks no deeper: this runs for every request. */
function membersOf(root: string): string[] {
  const agents = join(root, "agents");
  const members = (isFolder(agents) ? readdirSync(agents) : [])
    .filter((name) => !name.startsWith(".") && isFolder(join(agents, name, "agent")))
    .sort();
  if (members.length === 0) {
    throw new AgentError("CONFIG_INVALID", "This workspace has no member.", {
      fix: "Create agents/<name>/agent/ with an agent.ts, or run from the root of the workspace.",
    });
  }
  for (const name of members) {
    const problem = checkMemberName(name);
    if (problem) throw new AgentError("CONFIG_INVALID", `agents/${name}: ${problem.message}`, { fix: problem.fix });
  }
  return members;
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
}

/** A peer that does not exist is left to the compiler of the member that declares it, so that the others still run. */
function toBindings(peers: readonly string[], member: string, members: readonly string[]): ServiceBinding[] {
  return peers
    .filter((peer) => peer !== member && members.includes(peer))
    .map((peer) => ({ type: "service", service: toServiceName(peer), format: "url", env: toPeerVariable(peer) }));
}

function serviceTaken(service: string, member: string): AgentError {
  return new AgentError(
    "CONFIG_INVALID",
    `vercel.ts has a service "${service}", which is the name of agents/${member}.`,
    {
      fix: `Rename the service, or the folder agents/${member}.`,
      data: { service, member },
    },
  );
}
