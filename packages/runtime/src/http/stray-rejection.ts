import { formatStack } from "../effects/authored-stack.ts";

let survives = false;

/**
 * A promise that authored code forgot is told to its author, and ends nobody's session (§19): Node would end the
 * process. May be called any number of times.
 */
export function surviveStrayRejections(
  env: Readonly<Record<string, string | undefined>>,
  log: (line: string) => void,
): void {
  if (survives) return;
  survives = true;
  process.on("unhandledRejection", (error) =>
    log(`A promise was rejected and nobody caught it. ${formatStack(error, env)}`),
  );
}
