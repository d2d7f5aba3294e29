import { AgentError } from "../errors.ts";

/** What a tool says no to; the model reads both sentences. */
export function refusal(message: string, fix: string): AgentError {
  return new AgentError("INVALID_INPUT", `${message} ${fix}`, { fix });
}
