import { BlockList, isIP } from "node:net";
import { AgentError } from "../errors.ts";

type Env = Readonly<Record<string, string | undefined>>;

/**
 * Refuses callbacks to where only this machine or its network gets: whoever may open a session could otherwise have a
 * member in production post there on their behalf (docs/decisions/2026-11-30-callback-urls.md). A peer whose address
 * is configured may be anywhere, and a member that is itself at a loopback address is asked by its neighbours.
 *
 * @param own Origin under which others reach this member.
 * @throws AgentError `BAD_REQUEST`
 */
export function checkCallbackUrl(callback: string, { env, own }: { readonly env: Env; readonly own: string }): void {
  const url = new URL(callback);
  if (url.username !== "" || url.password !== "") throw refused("holds credentials");
  if (trustedOrigins(env, own).has(url.origin)) return;
  if (isLoopback(url.hostname) && isLoopback(new URL(own).hostname)) return;
  if (url.protocol !== "https:") throw refused("is not https");
  if (isInside(url.hostname)) throw refused("is an address of a private network");
}

function refused(why: string): AgentError {
  return new AgentError("BAD_REQUEST", `callback.url: ${why}.`, {
    fix: "Give the caller a public https origin, or set EVE_PEER_<NAME>_URL of this member to the caller's.",
    data: { field: "callback.url" },
  });
}

function trustedOrigins(env: Env, own: string): ReadonlySet<string> {
  const peers = Object.entries(env).flatMap(([name, value]) => (/^EVE_PEER_.+_URL$/.test(name) ? [value] : []));
  const deployment = env.VERCEL === "1" && env.VERCEL_URL ? `https://${env.VERCEL_URL}` : undefined;
  return new Set([own, deployment, ...peers].flatMap((url) => (url && URL.canParse(url) ? [new URL(url).origin] : [])));
}

const LOOPBACK = new BlockList();
LOOPBACK.addSubnet("127.0.0.0", 8, "ipv4");
LOOPBACK.addAddress("::1", "ipv6");

/** Everything that is not a public unicast address (RFC 6890). */
const INSIDE = new BlockList();
for (const [net, prefix] of [
  ["0.0.0.0", 8],
  ["10.0.0.0", 8],
  ["100.64.0.0", 10],
  ["127.0.0.0", 8],
  ["169.254.0.0", 16],
  ["172.16.0.0", 12],
  ["192.0.0.0", 24],
  ["192.168.0.0", 16],
  ["198.18.0.0", 15],
  ["224.0.0.0", 3],
] as const) {
  INSIDE.addSubnet(net, prefix, "ipv4");
}
for (const [net, prefix] of [
  ["::", 96],
  ["64:ff9b::", 16],
  ["fc00::", 7],
  ["fe80::", 9],
  ["ff00::", 8],
] as const) {
  INSIDE.addSubnet(net, prefix, "ipv6");
}

/** True for `localhost` and what is below it, 127.0.0.0/8 and ::1. */
export function isLoopback(hostname: string): boolean {
  const name = toName(hostname);
  return name === "localhost" || name.endsWith(".localhost") || includes(LOOPBACK, name);
}

/** A name without a dot, or below one that no public server has, is a neighbour's. */
function isInside(hostname: string): boolean {
  const name = toName(hostname);
  if (isIP(name) !== 0) return includes(INSIDE, name);
  return !name.includes(".") || /\.(localhost|local|internal|lan|home\.arpa)$/.test(name);
}

function includes(list: BlockList, name: string): boolean {
  const family = isIP(name);
  return family !== 0 && list.check(name, family === 4 ? "ipv4" : "ipv6");
}

function toName(hostname: string): string {
  return hostname
    .toLowerCase()
    .replace(/^\[|\]$/g, "")
    .replace(/\.$/, "");
}
