import { createHmac, timingSafeEqual } from "node:crypto";

/** What a token is for, and nothing else. */
export interface OperatorCall {
  readonly method: string;
  /** Path of the URL, with its query, as it is sent. */
  readonly target: string;
}

/**
 * Tokens by which whoever can read a store acts as the operator of its member, for one call within a minute
 * (docs/decisions/2026-12-01-operator-token.md). They are derived from the store's secret and kept nowhere.
 */
export interface OperatorTokens {
  create(call: OperatorCall): string;
  verify(token: string, call: OperatorCall): boolean;
}

const PREFIX = "eve_operator_";
const LIFETIME_MS = 60_000;
/** Callback tokens are signed with the secret itself, over texts without a blank: neither can stand for the other. */
const CONTEXT = "eve operator token, version 1";
/** As long as a store makes it. A shorter one may be guessed, and an empty one is no secret. */
const SECRET_LENGTH = 43;
const TOKEN = /^eve_operator_([1-9]\d{12,14})\.([\w-]{43})$/;

/** @param now Milliseconds since the epoch. */
export function createOperatorTokens(secret: string, now: () => number = Date.now): OperatorTokens {
  const key = createHmac("sha256", secret).update(CONTEXT).digest();
  const sign = ({ method, target }: OperatorCall, expires: string): Buffer =>
    Buffer.from(
      createHmac("sha256", key)
        .update(JSON.stringify([method, target, expires]))
        .digest("base64url"),
    );
  return {
    create: (call) => {
      const expires = String(now() + LIFETIME_MS);
      return `${PREFIX}${expires}.${sign(call, expires).toString()}`;
    },
    verify: (token, call) => {
      const [, expires, signature] = TOKEN.exec(token) ?? [];
      if (secret.length < SECRET_LENGTH || expires === undefined || signature === undefined) return false;
      // Compared as text: several texts decode to the same bytes.
      const isSigned = timingSafeEqual(Buffer.from(signature), sign(call, expires));
      const left = Number(expires) - now();
      return isSigned && left > 0 && left <= LIFETIME_MS;
    },
  };
}

/** The token of an operator that a request shows, valid or not. */
export function operatorTokenOf(headers: Headers): string | undefined {
  const token = /^Bearer\s+(\S.*)$/i.exec(headers.get("authorization") ?? "")?.[1];
  return token?.startsWith(PREFIX) === true ? token : undefined;
}
