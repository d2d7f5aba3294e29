/** A secret, or what gives it: called before every request, reconnects included. */
export type TokenValue = string | (() => string | Promise<string>);

type HeaderRecord = Readonly<Record<string, string>>;
export type HeadersValue = HeaderRecord | (() => HeaderRecord | Promise<HeaderRecord>);

export type ClientAuth =
  | { readonly bearer: TokenValue }
  | { readonly basic: { readonly username: string; readonly password: TokenValue } }
  /** The token is sent as bearer, and to the platform that protects the deployment. */
  | { readonly vercelOidc: { readonly token: TokenValue } };

export interface Credentials {
  readonly auth?: ClientAuth | undefined;
  readonly headers?: HeadersValue | undefined;
}

/** Header in which the platform takes an OIDC token. */
const TRUSTED_OIDC = "x-vercel-trusted-oidc-idp-token";

/**
 * The headers of one request: those of the client, then its credentials, then those of the request itself.
 *
 * @throws TypeError when one can not be sent; which value that is, is not said.
 */
export async function resolveHeaders({ auth, headers }: Credentials, own?: HeaderRecord): Promise<Headers> {
  const given = typeof headers === "function" ? await headers() : headers;
  const signed = auth && (await toHeaders(auth));
  const resolved = new Headers();
  for (const [name, value] of [given, signed, own].flatMap((some = {}) => Object.entries(some))) {
    try {
      resolved.set(name, value);
    } catch {
      throw new TypeError(`The header ${JSON.stringify(name)} can not be sent.`);
    }
  }
  return resolved;
}

async function toHeaders(auth: ClientAuth): Promise<HeaderRecord> {
  if ("bearer" in auth) return { authorization: `Bearer ${await valueOf(auth.bearer)}` };
  if ("basic" in auth) {
    const { username, password } = auth.basic;
    const bytes = new TextEncoder().encode(`${username}:${await valueOf(password)}`);
    return { authorization: `Basic ${btoa(String.fromCharCode(...bytes))}` };
  }
  const token = await valueOf(auth.vercelOidc.token);
  return { authorization: `Bearer ${token}`, [TRUSTED_OIDC]: token };
}

function valueOf(value: TokenValue): string | Promise<string> {
  return typeof value === "function" ? value() : value;
}
