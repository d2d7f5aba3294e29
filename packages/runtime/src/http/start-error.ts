import { formatStack } from "../effects/authored-stack.ts";
import { AgentError } from "../errors.ts";

type Env = Readonly<Record<string, string | undefined>>;

/** Why a member did not start: one line for what is known, else the frames of authored code. */
export function formatStartError(error: unknown, env: Env): string {
  if (!AgentError.is(error)) return formatStack(error, env);
  return `${error.code} ${error.message}${error.fix === undefined ? "" : ` — ${error.fix}`}`;
}

/** Ends a process whose member did not start. */
export function exitWith(error: unknown): never {
  process.stderr.write(`${formatStartError(error, process.env)}\n`);
  process.exit(1);
}
