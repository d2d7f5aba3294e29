/** Where the API of an agent is. */
export interface Address {
  /** A route below the API, e.g. `/session`. */
  api(path: string, query?: Query): URL;
  /** A path that the agent named, e.g. the `streamPath` of `agent.started`. */
  named(path: string, query?: Query): URL;
}

export type Query = Readonly<Record<string, string | number | undefined>>;

/** What a host ends in: `/eve/<member>`, or the API itself, `/eve/<member>/v1` or `/eve/v1`. */
const END = /^(.*?)(?:(\/eve(?:\/[a-z][a-z0-9-]*)?)\/v1|(\/eve\/[a-z][a-z0-9-]*))?\/*$/;

/**
 * A host that ends in `/eve/<member>` is that member, any other an agent served alone. Its query is part of every URL;
 * a parameter of the request's own comes first.
 *
 * @throws TypeError when the host is neither an http(s) URL nor a path, or holds credentials. A path is looked at when
 * it is needed: outside of a page there is nothing that it is relative to.
 */
export function toAddress(host: string): Address {
  let parsed: URL | undefined;
  const base = (): URL => (parsed ??= parseHost(host));
  if (host.includes(":")) base();
  const at = (mount: string | undefined, path: string, query: Query = {}): URL => {
    const url = new URL(base());
    const [, root = "", api, member] = END.exec(url.pathname)!;
    url.pathname = root + (mount ?? `${api ?? member ?? "/eve"}/v1`) + path;
    for (const [name, value] of Object.entries(query)) {
      if (value !== undefined) url.searchParams.set(name, String(value));
    }
    return url;
  };
  return {
    api: (path, query) => at(undefined, path, query),
    named: (path, query) => at("", path, query),
  };
}

/**
 * An id as a segment of a path.
 *
 * @throws TypeError for what would be another path.
 */
export function toSegment(id: string): string {
  if (/^\.{0,2}$/.test(id)) throw new TypeError(`"${id}" is not the id of a session.`);
  return encodeURIComponent(id);
}

/** What the host is, is not said: it may hold a credential. */
function parseHost(host: string): URL {
  const page = globalThis.location?.origin;
  const url = URL.canParse(host, page) ? new URL(host, page) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol) || url.username + url.password !== "") {
    throw new TypeError("host: must be an http(s) URL without credentials or, in a page, a path.");
  }
  url.hash = "";
  return url;
}
