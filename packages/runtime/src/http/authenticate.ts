import type { Context, MiddlewareHandler } from "hono";
import type { Authenticator } from "../channels/auth.ts";
import type { SessionHead } from "../engine/ports.ts";
import { AgentError } from "../errors.ts";
import { principalSchema, type Principal } from "../protocol/principal.ts";
import { operatorTokenOf, type OperatorTokens } from "./operator-token.ts";
import { toProblem } from "./problem.ts";

export interface Variables {
  principal: Principal;
}

/**
 * Whoever can read the store, for one call. Known by identity: a principal that an authenticator gives the same name
 * is another one.
 */
export const OPERATOR: Principal = Object.freeze({
  authenticator: "operator",
  principalId: "operator",
  principalType: "service",
  attributes: {},
});

/** All that an operator may ask for: what `eve sessions` can not do beside a member that runs. */
const OPERATED =
  /^(?:DELETE \/eve\/(?:[^/?]+\/)?v1\/session\/[^/?]+|POST \/eve\/(?:[^/?]+\/)?v1\/session\/[^/?]+\/(?:retry|fork))$/;

/**
 * Takes the operator of the member by its token, else walks the authenticators in order; without a match the answer is
 * 401 with their challenges and hints (contract §18.1). No authenticator sees the token of an operator.
 */
export function authenticate(
  walk: readonly Authenticator[],
  member: string,
  operator: OperatorTokens,
): MiddlewareHandler<{ Variables: Variables }> {
  return async (c, next) => {
    const token = operatorTokenOf(c.req.raw.headers);
    if (token !== undefined) {
      const { pathname, search } = new URL(c.req.url);
      const call = { method: c.req.method, target: `${pathname}${search}` };
      if (!OPERATED.test(`${call.method} ${call.target}`) || !operator.verify(token, call))
        return notOperator(c, member);
      c.set("principal", OPERATOR);
      return next();
    }
    const request = { method: c.req.method, url: c.req.url, headers: c.req.raw.headers };
    for (const authenticator of walk) {
      const principal = await authenticator(request);
      if (principal === null || principal === undefined) continue;
      c.set("principal", principalSchema.parse(principal));
      return next();
    }
    const hints = walk.flatMap(({ hint }) => hint?.(request) ?? []);
    return unauthorized(c, walk, member, hints);
  };
}

function unauthorized(c: Context, walk: readonly Authenticator[], member: string, hints: readonly string[]): Response {
  const challenges = walk.flatMap(({ challenge }) => (challenge === undefined ? [] : [challenge]));
  c.header("www-authenticate", challenges.length === 0 ? "Bearer" : challenges.join(", "));
  return toProblem(
    c,
    new AgentError("UNAUTHORIZED", `agents/${member} does not accept this caller.`, {
      fix:
        hints.length > 0
          ? hints.join(" ")
          : `Send credentials, or say who may call in agents/${member}/agent/channels/eve.ts as docs/guides/authentication.md shows.`,
    }),
  );
}

function notOperator(c: Context, member: string): Response {
  c.header("www-authenticate", "Bearer");
  return toProblem(
    c,
    new AgentError("UNAUTHORIZED", `agents/${member} does not accept this operator token.`, {
      fix: "A token is for one store, one request and one minute: run eve sessions again, on the store of the member that runs.",
    }),
  );
}

/**
 * Only its owner may use a session; to anybody else it does not exist (contract §18.3). The operator has the file that
 * all of them are in.
 */
export function owns(head: SessionHead | undefined, principal: Principal): head is SessionHead {
  if (head === undefined) return false;
  return principal === OPERATOR || principalKey(head.owner) === principalKey(principal);
}

/** Who somebody acts as in a session: the operator is nobody in it, and acts for whom it concerns. */
export function actsAs(principal: Principal, concerned: Principal): Principal {
  return principal === OPERATOR ? concerned : principal;
}

export function principalKey({ authenticator, principalId }: Principal): string {
  return JSON.stringify([authenticator, principalId]);
}
