import { describeFailure, formatStack } from "../effects/authored-stack.ts";

type Env = Readonly<Record<string, string | undefined>>;
type Log = (line: string) => void;

/**
 * Ends this process when something was thrown where nobody can catch it, as in a timer: what the code left half done is
 * unknown, and what was accepted is in the store. One line says what and where, instead of a page of bundled code.
 */
export function endOnUncaughtException(member: string, env: Env, log: Log): void {
  process.on("uncaughtException", (error) => {
    log(`An exception that nobody caught ends ${member}: ${describe(error, member, env)}`);
    process.exit(1);
  });
}

let tells = false;

/**
 * Says the same, and leaves what follows to whoever runs this process: the platform's launcher ends it in its own way.
 * May be called any number of times.
 */
export function tellUncaughtException(member: string, env: Env, log: Log): void {
  if (tells) return;
  tells = true;
  process.on("uncaughtExceptionMonitor", (error) =>
    log(`An exception that nobody caught in ${member}: ${describe(error, member, env)}`),
  );
}

function describe(error: unknown, member: string, env: Env): string {
  return env.EVE_DEBUG === "1" ? formatStack(error, env) : describeFailure(error, member);
}
