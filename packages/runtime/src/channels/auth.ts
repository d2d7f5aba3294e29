import { createHash, timingSafeEqual } from "node:crypto";
import { AgentError } from "../errors.ts";
import type { Principal } from "../protocol/principal.ts";

/** What an authenticator sees of a request. */
export interface AuthRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: Headers;
}

/**
 * One step of the inbound walk (contract §18.1): a principal accepts, `null` passes on to the next. A challenge is
 * what a 401 offers when nobody accepted.
 */
export interface Authenticator {
  (request: AuthRequest): Principal | null | Promise<Principal | null>;
  readonly challenge?: string;
}

/**
 * Accepts everybody as the local developer, and only while the process is a development server: `eve dev`
 * (`EVE_DEV=1`) or `vercel dev` (`VERCEL=1` with `VERCEL_ENV=development`). No request can turn it on.
 *
 * @example
 * export default eveChannel({ auth: [localDev()] });
 */
export function localDev(): Authenticator {
  return () =>
    isDevelopment(process.env)
      ? { authenticator: "local-dev", principalId: "local-dev", principalType: "user", attributes: {} }
      : null;
}

/** Accepts everybody, also in production, as one anonymous principal. */
export function none(): Authenticator {
  return () => ({
    authenticator: "none",
    principalId: "anonymous",
    principalType: "anonymous",
    attributes: {},
  });
}

export interface HttpBasicOptions {
  readonly username: string;
  readonly password: string;
  /** Shown by browsers in the sign-in box. Default `"agent"`. */
  readonly realm?: string;
}

/**
 * Accepts one user name and password (RFC 7617), compared in constant time.
 *
 * @example
 * httpBasic({ username: "team", password: process.env.TEAM_PASSWORD! })
 */
export function httpBasic(options: HttpBasicOptions): Authenticator {
  if (!options.username || !options.password) {
    throw new AgentError("CONFIG_INVALID", "httpBasic needs a user name and a password.", {
      fix: "Set both; read the password from an environment variable that is set.",
    });
  }
  const expected = digest(`${options.username}:${options.password}`);
  const authenticator: Authenticator = ({ headers }) => {
    const match = /^Basic ([A-Za-z0-9+/=]+)$/i.exec(headers.get("authorization") ?? "");
    if (!match) return null;
    const given = digest(Buffer.from(match[1]!, "base64").toString("utf8"));
    if (!timingSafeEqual(given, expected)) return null;
    return {
      authenticator: "http-basic",
      principalId: options.username,
      principalType: "user",
      attributes: {},
    };
  };
  const realm = (options.realm ?? "agent").replace(/["\\]/g, "");
  return Object.assign(authenticator, { challenge: `Basic realm="${realm}", charset="UTF-8"` });
}

/** True while the process is a development server. */
export function isDevelopment(env: NodeJS.ProcessEnv): boolean {
  return env.EVE_DEV === "1" || (env.VERCEL === "1" && env.VERCEL_ENV === "development");
}

function digest(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}
