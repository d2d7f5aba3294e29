/** A name that a request gives to the server, or to the page it comes from, and that is none of this machine's. */
export interface ForeignName {
  readonly header: string;
  readonly value: string;
}

/**
 * Where the name stands that a caller used. `vercel dev` puts its own address into `host`, and passes on an
 * `x-forwarded-host` that the caller made up; only `x-vercel-deployment-url` then holds the `host` that arrived.
 */
const NAMES = ["x-forwarded-host", "x-vercel-deployment-url"] as const;

/**
 * Finds out whether a request was meant for a server of this machine. A page of any site can send requests here once
 * its own name leads to 127.0.0.1 (DNS rebinding), but not without that name in `host` and `origin`. Headers are only
 * looked at to refuse: what they say opens nothing (contract §18.2).
 *
 * @param ownOrigin The origin under which the server is reached besides, e.g. `http://192.168.1.5:4000`.
 * @returns the first name that is neither a loopback name or address nor in `ownOrigin`.
 */
export function findForeignName(
  { url, headers }: { readonly url: string; readonly headers: Headers },
  ownOrigin: string | undefined,
): ForeignName | undefined {
  const own = ownOrigin === undefined ? null : URL.parse(ownOrigin);
  const protocol = own?.protocol ?? "http:";
  const isOwnHost = (host: string): boolean => {
    const parsed = parseHost(host, protocol);
    return parsed !== null && (isLoopback(parsed) || parsed.host === own?.host);
  };
  const isOwnOrigin = (origin: string): boolean => {
    const parsed = /^https?:\/\//.test(origin) ? URL.parse(origin) : null;
    return parsed !== null && (isLoopback(parsed) || parsed.origin === own?.origin);
  };

  const host = headers.get("host") ?? URL.parse(url)?.host ?? "";
  if (!isOwnHost(host)) return { header: "host", value: host };
  for (const header of NAMES) {
    const value = headers.get(header);
    if (value !== null && !isOwnHost(value)) return { header, value };
  }
  const origin = headers.get("origin");
  return origin === null || isOwnOrigin(origin) ? undefined : { header: "origin", value: origin };
}

/** `URL` also reads what is no host and port: `127.0.0.1@evil.example` would be two things at once. */
function parseHost(host: string, protocol: string): URL | null {
  return /^[^\s/\\@?#,]+$/.test(host) ? URL.parse(`${protocol}//${host}`) : null;
}

/** `URL` has written every form of an address in the one that is looked for. */
function isLoopback({ hostname }: URL): boolean {
  return /^(?:(?:.+\.)?localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(hostname);
}
