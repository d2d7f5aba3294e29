import { createHash, timingSafeEqual } from "node:crypto";
import { AgentError } from "../errors.ts";
import type { Principal } from "../protocol/principal.ts";
import { findForeignName, type ForeignName } from "./local-request.ts";

/** What an authenticator sees of a request. */
export interface AuthRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: Headers;
}

/**
 * One step of the inbound walk (contract §18.1): a principal accepts, `null` passes on to the next. A challenge is
 * what a 401 offers when nobody accepted, a hint what it says of this request: why it was passed on and what to do.
 */
export interface Authenticator {
  (request: AuthRequest): Principal | null | Promise<Principal | null>;
  readonly challenge?: string;
  readonly hint?: (request: AuthRequest) => string | undefined;
}

/**
 * Accepts everybody as the local developer, and only while the process is a development server: `eve dev`
 * (`EVE_DEV=1`) or `vercel dev` (`VERCEL=1` with `VERCEL_ENV=development`). No request can turn it on. Passes on
 * requests that name another machine than this one (`localhost`, `*.localhost`, `127.0.0.0/8`, `[::1]`, or what
 * `EVE_ORIGIN` says) as the server or as the page that they come from (contract §18.1).
 *
 * @example
 * export default eveChannel({ auth: [localDev()] });
 */
export function localDev(): Authenticator {
  const foreignName = (request: AuthRequest): ForeignName | undefined =>
    findForeignName(request, process.env.EVE_ORIGIN);
  const authenticator: Authenticator = (request) =>
    isDevelopment(process.env) && foreignName(request) === undefined
      ? { authenticator: "local-dev", principalId: "local-dev", principalType: "user", attributes: {} }
      : null;
  const hint = (request: AuthRequest): string | undefined => {
    const found = isDevelopment(process.env) ? foreignName(request) : undefined;
    if (found === undefined) return undefined;
    return (
      `localDev() takes only what is meant for this machine, and its ${found.header} header says ` +
      `${JSON.stringify(found.value)}. Use localhost or 127.0.0.1, or set EVE_ORIGIN to the origin that callers use.`
    );
  };
  return Object.assign(authenticator, { hint });
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
  /** The password, or a function that reads it when a request comes. */
  readonly password: string | undefined | (() => string | undefined);
  /** Shown by browsers in the sign-in box. Default `"agent"`. */
  readonly realm?: string;
}

/**
 * Accepts one user name and password (RFC 7617), compared in constant time. A password that is not set lets nobody
 * in: every request then fails with `CONFIG_INVALID`. It is not needed to build.
 *
 * @example
 * httpBasic({ username: "team", password: process.env.TEAM_PASSWORD })
 */
export function httpBasic({ username, password, realm = "agent" }: HttpBasicOptions): Authenticator {
  const authenticator: Authenticator = ({ headers }) => {
    const secret = typeof password === "function" ? password() : password;
    if (!username || !secret) {
      const option = username ? "password" : "username";
      throw new AgentError(
        "CONFIG_INVALID",
        `The \`${option}\` of httpBasic(…) is empty: the variable that it is read from is not set.`,
        { fix: "Set that variable where the member runs, on this machine in agents/<name>/.env.local." },
      );
    }
    const match = /^Basic ([A-Za-z0-9+/=]+)$/i.exec(headers.get("authorization") ?? "");
    if (!match) return null;
    const given = digest(Buffer.from(match[1]!, "base64").toString("utf8"));
    if (!timingSafeEqual(given, digest(`${username}:${secret}`))) return null;
    return { authenticator: "http-basic", principalId: username, principalType: "user", attributes: {} };
  };
  const challenge = `Basic realm="${realm.replace(/["\\]/g, "")}", charset="UTF-8"`;
  return Object.assign(authenticator, { challenge });
}

/** True while the process is a development server. */
export function isDevelopment(env: NodeJS.ProcessEnv): boolean {
  return env.EVE_DEV === "1" || (env.VERCEL === "1" && env.VERCEL_ENV === "development");
}

function digest(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}
