import { AgentError } from "../errors.ts";
import type { Route, WorkspaceConfig } from "./config.ts";

/** Keys whose rules become routes, because the platform would put them behind the last route of ours. */
export const ROUTE_KEYS = ["routes", "redirects", "headers", "rewrites", "cleanUrls", "trailingSlash"] as const;

/**
 * One ordered list: what the user applies to every request (redirects, headers, `continue` routes), the members,
 * the user's other routes and rewrites, and a 404 for the rest. Without that last one `vercel dev` lists the
 * repository and serves its sources; it is left out when the user claims `/`, or composes phases with `handle`.
 *
 * @throws AgentError `CONFIG_INVALID` for a route, redirect or rewrite of the user below a member's path, or rules that are not valid.
 */
export async function composeRoutes(config: WorkspaceConfig, members: ReadonlyMap<string, Route>): Promise<Route[]> {
  const { redirects, headers, rewrites, cleanUrls, trailingSlash } = config;
  const routes = config.routes ?? [];
  const applied = await transform({ redirects, headers });
  const rewritten = await transform({ rewrites });
  for (const route of [...routes, ...applied, ...rewritten]) refuseMemberPath(route, members);

  const firstHandle = routes.findIndex((route) => route.handle !== undefined);
  const applies = (route: Route, index: number) =>
    route.continue === true && (firstHandle === -1 || index < firstHandle);
  const before = [...applied, ...routes.filter(applies)];
  const after = [
    ...(await transform({ cleanUrls, trailingSlash })),
    ...routes.filter((route, index) => !applies(route, index)),
    ...rewritten.filter((route) => route.handle !== "filesystem"),
  ];
  const isClosed = !after.some((route) => route.handle !== undefined || claimsRoot(route));
  return [...before, ...members.values(), ...after, ...(isClosed ? [NOT_FOUND] : [])];
}

/** The route of a member; the prefix stays (contract §2.4). */
export function toMemberRoute(member: string, service: string): Route {
  return { src: `^/eve/${member}(?:/.*)?$`, destination: { type: "service", service } };
}

const NOT_FOUND: Route = { src: "^/(.*)$", status: 404 };

function refuseMemberPath(route: Route, members: ReadonlyMap<string, Route>): void {
  const path = /^\^?(?:\(\?:)?\/eve\/([a-z0-9-]+)/.exec(route.src ?? "")?.[1];
  if (path === undefined || !members.has(path) || route.continue === true) return;
  throw new AgentError(
    "CONFIG_INVALID",
    `vercel.ts has a route, redirect or rewrite "${route.src}", but /eve/${path} is the path of agents/${path}.`,
    {
      fix: `Remove the route, or rename the folder agents/${path}.`,
      data: { member: path },
    },
  );
}

function claimsRoot(route: Route): boolean {
  if (route.src === undefined || route.continue === true) return false;
  try {
    return new RegExp(`^(?:${route.src.replace(/^\^/, "").replace(/\$$/, "")})$`).test("/");
  } catch {
    return false;
  }
}

/** The platform's own translation; loaded only for a workspace that uses these keys. */
async function transform(rules: Record<string, unknown>): Promise<Route[]> {
  const given = Object.fromEntries(Object.entries(rules).filter(([, value]) => value !== undefined));
  if (Object.keys(given).length === 0) return [];
  const { getTransformedRoutes } = await import("@vercel/routing-utils");
  const { routes, error } = getTransformedRoutes(given);
  if (error) {
    throw new AgentError("CONFIG_INVALID", `vercel.ts: ${error.message}`, {
      fix: `Correct ${Object.keys(given).join(" or ")} in vercel.ts.`,
    });
  }
  return (routes ?? []) as Route[];
}
