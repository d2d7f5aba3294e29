/**
 * Origin that callbacks come back to, stable across restarts wherever there is such a one: `EVE_ORIGIN`, the
 * platform's own address, else `own`. Never taken from a request: whoever sends one could name any host.
 */
export function originOf(env: Readonly<Record<string, string | undefined>>, own: string): string {
  if (env.EVE_ORIGIN) return env.EVE_ORIGIN.replace(/\/+$/, "");
  if (env.VERCEL === "1" && env.VERCEL_URL) {
    return `${env.VERCEL_ENV === "development" ? "http" : "https"}://${env.VERCEL_URL}`;
  }
  return own;
}

/** Origin of a server that listens at `hostname`, for programs on the same machine. */
export function toLocalOrigin(hostname: string, port: number): string {
  const reachable = hostname === "0.0.0.0" || hostname === "::" ? "127.0.0.1" : hostname;
  return `http://${reachable.includes(":") ? `[${reachable}]` : reachable}:${port}`;
}
