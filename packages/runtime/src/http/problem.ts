import type { Context } from "hono";
import type { ContentfulStatusCode } from "hono/utils/http-status";
import { AgentError, ERROR_CODES } from "../errors.ts";

/** Answers an error in the shape of the protocol. Codes of session states keep the wire's spelling. */
export function toProblem(c: Context, error: AgentError): Response {
  const { status } = ERROR_CODES[error.code];
  c.header("cache-control", "no-store");
  const code = error.code.startsWith("SESSION_") ? error.code.toLowerCase() : error.code;
  const text = error.fix === undefined ? error.message : `${error.message} ${error.fix}`;
  return c.json({ ok: false, error: text, code }, status as ContentfulStatusCode);
}

/** What anything thrown by a route answers: nothing of the inside shows. */
export function toInternalProblem(c: Context): Response {
  return toProblem(
    c,
    new AgentError("INTERNAL", "The request failed inside the agent.", {
      fix: "Look at the agent's log, then try again.",
    }),
  );
}
