import { basename } from "node:path";
import { toConversation } from "../conversation.ts";
import { parseAddress } from "../parse-address.ts";
import { watchLauncher } from "../watch-launcher.ts";
import { parseInspect, toInspectFlag } from "./parse-inspect.ts";
import { parseLimits } from "./parse-limits.ts";
import { isUnderPlatform } from "./platform.ts";
import { supervise } from "./supervise.ts";

/**
 * `eve dev [--host 127.0.0.1] [--port 4000] [--inspect[=[host:]port]]`: runs the member of the working directory and
 * follows its files. A member that does not build, or does not start, answers 503 with the reason.
 *
 * @returns the exit code, once asked to stop.
 * @throws AgentError `PORT_IN_USE`, `CONFIG_INVALID`
 */
export async function dev(args: string[]): Promise<number> {
  const memberDir = process.cwd();
  const name = basename(memberDir);
  const inspect = parseInspect(args, name, process.env.EVE_INSPECT);
  const address = parseAddress(inspect.rest);
  const limits = parseLimits(process.env, inspect.address !== undefined);
  // The platform's CLI puts the name of the service before every line by itself.
  const prefix = isUnderPlatform() ? "" : `[${name}] `;
  await supervise({
    memberDir,
    address,
    execArgv: inspect.address === undefined ? [] : [await toInspectFlag(inspect.address)],
    limits,
    stopped: whenAskedToStop(),
    log: (line) => void process.stderr.write(`${prefix}${line}\n`),
    onReady: (base) => {
      if (!isUnderPlatform() && process.stdout.isTTY) {
        process.stdout.write(`\n${toConversation(name, base).join("\n")}\n`);
      }
    },
  });
  return 0;
}

function whenAskedToStop(): AbortSignal {
  const stop = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.once(signal, () => stop.abort());
  if (isUnderPlatform()) {
    const parent = process.ppid;
    // The platform's CLI starts services as groups of their own: killed, it would leave this process behind.
    setInterval(() => process.ppid !== parent && stop.abort(), 500).unref();
  } else {
    watchLauncher(() => stop.abort());
  }
  return stop.signal;
}
