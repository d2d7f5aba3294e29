import type { Context, MiddlewareHandler } from "hono";
import type { Authenticator } from "../channels/auth.ts";
import type { SessionHead } from "../engine/ports.ts";
import { AgentError } from "../errors.ts";
import { principalSchema, type Principal } from "../protocol/principal.ts";
import { toProblem } from "./problem.ts";

export interface Variables {
  principal: Principal;
}

/** Walks the authenticators in order; without a match the answer is 401 with their challenges and hints (contract §18.1). */
export function authenticate(
  walk: readonly Authenticator[],
  member: string,
): MiddlewareHandler<{ Variables: Variables }> {
  return async (c, next) => {
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

/** Only its owner may use a session; to anybody else it does not exist (contract §18.3). */
export function owns(head: SessionHead | undefined, principal: Principal): head is SessionHead {
  return head !== undefined && principalKey(head.owner) === principalKey(principal);
}

export function principalKey({ authenticator, principalId }: Principal): string {
  return JSON.stringify([authenticator, principalId]);
}
