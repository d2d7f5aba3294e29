/** Runs in a process of its own: evaluates `vercel.ts` of the working directory, whose modules load only once. */
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { Evaluated } from "./dev-config.ts";

const send = (message: Evaluated): void =>
  void process.send!(message, undefined, undefined, () => process.disconnect());
try {
  const { default: config } = (await import(pathToFileURL(join(process.cwd(), "vercel.ts")).href)) as {
    default: unknown;
  };
  send({ config: JSON.parse(JSON.stringify(config)) });
} catch (error) {
  const { code, message, fix } = error as { code?: string; message: string; fix?: string };
  // Errors of ours name the place themselves.
  send({ error: fix ? { ...(code && { code }), message, fix } : { message: `vercel.ts: ${message}` } });
}
