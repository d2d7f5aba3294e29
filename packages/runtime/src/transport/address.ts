import type { Transport } from "../define/define-remote-agent.ts";
import { AgentError } from "../errors.ts";
import type { RegisteredSubagent } from "../registry/registry.ts";

type Remote = Exclude<RegisteredSubagent, { kind: "local" }>;
type Env = Readonly<Record<string, string | undefined>>;

/** Where a remote agent is, and how a request to it is authenticated. */
export interface RemoteAddress {
  /** Create route, e.g. `http://127.0.0.1:3000/eve/research/v1/session`. */
  readonly sessions: string;
  /** Origin and path without the API, for people to read. */
  readonly url: string;
  headers(request: { readonly url: string; readonly method: string }): Promise<Record<string, string>>;
}

/**
 * The address of a subagent elsewhere (contract §10.1, §10.4). For a peer, in order: its explicit transport, the
 * binding of the environment, the origin of `vercel dev`.
 *
 * @throws AgentError `NO_TRANSPORT` when none of them is there.
 */
export async function resolveAddress(remote: Remote, env: Env): Promise<RemoteAddress> {
  if (remote.kind === "remote") {
    return withTransport(remote.definition, "/eve/v1/session", remote.definition.path);
  }
  const path = `/eve/${remote.peer}/v1/session`;
  const { transport } = remote.definition;
  if (transport !== undefined) return withTransport(transport, path);
  const variable = peerVariable(remote.peer);
  const bound = env[`${variable}_URL`];
  if (bound) {
    if (!isHttpUrl(bound)) {
      throw new AgentError("NO_TRANSPORT", `${variable}_URL is not an http(s) URL.`, {
        fix: "Set it to a full URL such as http://127.0.0.1:4001.",
        data: { peer: remote.peer },
      });
    }
    refuseSecrets(bound, `${variable}_URL`, `Put the token into ${variable}_TOKEN.`);
    const token = env[`${variable}_TOKEN`];
    return atUrl(bound, path, async () => (token ? { authorization: `Bearer ${token}` } : {}));
  }
  if (env.VERCEL === "1" && env.VERCEL_ENV === "development" && env.VERCEL_URL) {
    return atUrl(`http://${env.VERCEL_URL}`, path, async () => ({}));
  }
  throw new AgentError(
    "NO_TRANSPORT",
    `No address is known for the peer "${remote.peer}" (agent/${remote.manifest.source}).`,
    {
      fix: `Start the workspace with \`vercel dev --local\`, set ${variable}_URL, or give defineWorkspaceAgent a \`transport\`.`,
      data: { peer: remote.peer },
    },
  );
}

/** Environment variables of a peer begin with this: `EVE_PEER_<NAME>`. */
export function peerVariable(peer: string): string {
  return `EVE_PEER_${peer.toUpperCase().replaceAll("-", "_")}`;
}

async function withTransport(transport: Transport, path: string, authoredPath?: string): Promise<RemoteAddress> {
  const url = typeof transport.url === "function" ? await transport.url() : transport.url;
  if (typeof url !== "string" || !isHttpUrl(url)) {
    throw new AgentError("NO_TRANSPORT", "The transport's `url` is not an http(s) URL.", {
      fix: "Return a full URL such as https://agent.example.com; check the environment variable it is read from.",
    });
  }
  refuseSecrets(url, "The transport's `url`", "Put them into the transport's `auth` or `headers`.");
  const headers: RemoteAddress["headers"] = async (request) => {
    const given = typeof transport.headers === "function" ? await transport.headers() : transport.headers;
    return { ...given, ...(transport.auth === undefined ? {} : await transport.auth(request)) };
  };
  const address = atUrl(url, path, headers);
  return authoredPath === undefined ? address : { ...address, sessions: `${address.url}${authoredPath}` };
}

function isHttpUrl(url: string): boolean {
  return URL.canParse(url) && /^https?:$/.test(new URL(url).protocol);
}

/** An address is shown to people and in streams, so it holds nothing that is a secret, or may be (§10.5). */
function refuseSecrets(url: string, what: string, fix: string): void {
  const { username, password } = new URL(url);
  const held = username !== "" || password !== "" ? "credentials" : /[?#]/.test(url) ? "a query or a fragment" : "";
  if (held !== "") throw new AgentError("NO_TRANSPORT", `${what} holds ${held}.`, { fix });
}

function atUrl(url: string, path: string, headers: RemoteAddress["headers"]): RemoteAddress {
  const base = url.replace(/\/+$/, "");
  if (base.endsWith("/eve/v1")) return { sessions: `${base}/session`, url: base, headers };
  // A host that already ends in a member's mount gets the API below that mount.
  const mounted = /\/eve\/[a-z][a-z0-9-]*$/.test(base);
  return { sessions: mounted ? `${base}/v1/session` : `${base}${path}`, url: base, headers };
}
