import { createHmac, timingSafeEqual } from "node:crypto";

/**
 * Tokens of callback URLs: unguessable, for one call of one session, and derived from the store's secret, so that
 * none is ever stored and a repeated request carries the same one.
 */
export interface CallbackTokens {
  create(sessionId: string, callId: string): string;
  /** The session and call of a token, or `undefined` when this store did not make it. */
  verify(token: string): { readonly sessionId: string; readonly callId: string } | undefined;
}

export function createCallbackTokens(secret: string): CallbackTokens {
  const sign = (payload: string): Buffer => createHmac("sha256", secret).update(payload).digest();
  return {
    create: (sessionId, callId) => {
      const payload = Buffer.from(JSON.stringify([sessionId, callId])).toString("base64url");
      return `${payload}.${sign(payload).toString("base64url")}`;
    },
    verify: (token) => {
      const [payload = "", signature = "", ...rest] = token.split(".");
      const given = Buffer.from(signature, "base64url");
      const expected = sign(payload);
      if (rest.length > 0 || given.length !== expected.length || !timingSafeEqual(given, expected)) return undefined;
      const [sessionId, callId] = JSON.parse(Buffer.from(payload, "base64url").toString("utf8")) as [string, string];
      return { sessionId, callId };
    },
  };
}
