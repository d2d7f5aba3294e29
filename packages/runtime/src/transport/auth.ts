import type { OutboundAuth } from "../define/define-remote-agent.ts";
import { AgentError } from "../errors.ts";

type Secret = string | (() => string | Promise<string>);

/**
 * Sends a bearer token, read afresh for every request.
 *
 * @throws AgentError `NO_TRANSPORT` at call time when the token is empty.
 * @example
 * auth: bearer(() => process.env.RESEARCH_AGENT_TOKEN!)
 */
export function bearer(token: Secret): OutboundAuth {
  return async () => ({ authorization: `Bearer ${await read(token, "token")}` });
}

/**
 * Sends a user name and password (RFC 7617), the password read afresh for every request.
 *
 * @throws AgentError `NO_TRANSPORT` at call time when the password is empty.
 */
export function basic(username: string, password: Secret): OutboundAuth {
  return async () => {
    const pair = `${username}:${await read(password, "password")}`;
    return { authorization: `Basic ${Buffer.from(pair, "utf8").toString("base64")}` };
  };
}

async function read(secret: Secret, what: string): Promise<string> {
  const value = typeof secret === "function" ? await secret() : secret;
  if (typeof value === "string" && value !== "") return value;
  throw new AgentError("NO_TRANSPORT", `The outbound ${what} is empty.`, {
    fix: `Set the environment variable that the ${what} is read from.`,
  });
}
