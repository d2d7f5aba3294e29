import { createHmac, timingSafeEqual } from "node:crypto";

/**
 * Tokens of callback URLs: unguessable, for one call of one session, and derived from the store's secret, so that
 * none is ever stored and a repeated request carries the same one.
 */
export interface CallbackTokens {
  create(call: CallbackCall): string;
  /** The call of a token, or `undefined` when this store did not make it. */
  verify(token: string): CallbackCall | undefined;
}

export interface CallbackCall {
  readonly sessionId: string;
  readonly turnId: string;
  readonly callId: string;
}

export function createCallbackTokens(secret: string): CallbackTokens {
  const sign = (payload: string): Buffer => createHmac("sha256", secret).update(payload).digest();
  return {
    create: ({ sessionId, turnId, callId }) => {
      const payload = Buffer.from(JSON.stringify([sessionId, turnId, callId])).toString("base64url");
      return `${payload}.${sign(payload).toString("base64url")}`;
    },
    verify: (token) => {
      const [payload = "", signature = "", ...rest] = token.split(".");
      // Compared as text: several texts decode to the same bytes.
      const given = Buffer.from(signature);
      const expected = Buffer.from(sign(payload).toString("base64url"));
      if (rest.length > 0 || given.length !== expected.length || !timingSafeEqual(given, expected)) return undefined;
      const fields = JSON.parse(Buffer.from(payload, "base64url").toString("utf8")) as [string, string, string];
      const [sessionId, turnId, callId] = fields;
      return { sessionId, turnId, callId };
    },
  };
}
