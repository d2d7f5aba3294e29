import type { Address } from "../parse-address.ts";

type Env = Readonly<Record<string, string | undefined>>;

/** True below `vercel dev`. */
export function isUnderPlatform(env: Env = process.env): boolean {
  return env.__VERCEL_DEV_RUNNING !== undefined;
}

/**
 * The origin under which others reach a member during development. `vercel dev` names its own in `VERCEL_URL`, except
 * in a workspace with a `.env`; `pnpm dev` sets `EVE_ORIGIN` itself. Alone, a member is where it listens.
 */
export function toOrigin(env: Env, { host, port }: Address): string {
  if (env.EVE_ORIGIN) return env.EVE_ORIGIN.replace(/\/+$/, "");
  if (env.VERCEL_URL && isUnderPlatform(env)) return `http://${env.VERCEL_URL}`;
  const reachable = host === "0.0.0.0" || host === "::" ? "127.0.0.1" : host;
  return `http://${reachable.includes(":") ? `[${reachable}]` : reachable}:${port}`;
}
