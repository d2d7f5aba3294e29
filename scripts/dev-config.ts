import { fork } from "node:child_process";
import { once } from "node:events";
import { isDeepStrictEqual } from "node:util";
import { toMemberName } from "eve/vercel";

export interface Config {
  readonly services?: Readonly<Record<string, { readonly root?: string }>>;
  readonly [key: string]: unknown;
}

export type Evaluated =
  | { readonly config: Config }
  | { readonly error: { readonly code?: string; readonly message: string; readonly fix?: string } };

/**
 * Evaluates `vercel.ts` as the CLI would, once instead of for every request. Never rejects because of what is in it.
 */
export async function evaluateConfig(root: string): Promise<Evaluated> {
  const child = fork(new URL("./dev-evaluate.ts", import.meta.url), [], {
    cwd: root,
    execArgv: ["--disable-warning=ExperimentalWarning"],
    // What it prints must not mix with `--json` output.
    stdio: ["ignore", process.stderr, "inherit", "ipc"],
  });
  const answer = once(child, "message").then(([message]) => message as Evaluated);
  const exit = once(child, "exit").then(([code]): Evaluated => ({
    error: { message: `vercel.ts ended the process (exit code ${code}).` },
  }));
  return Promise.race([answer, exit]);
}

export function membersOf({ services = {} }: Config): string[] {
  return Object.entries(services).flatMap(([service, { root }]) => {
    const member = toMemberName(service);
    return member !== undefined && root === `agents/${member}` ? [member] : [];
  });
}

/** What the CLI has to do for a new configuration: it reads routes for every request, but starts services once. */
export function compareConfigs(before: Config, after: Config): "same" | "reread" | "restart" {
  if (isDeepStrictEqual(before, after)) return "same";
  return isDeepStrictEqual(before.services, after.services) ? "reread" : "restart";
}

/** What changed, for people: `greeter is new, research is gone`. */
export function describeChange(before: Config, after: Config): string {
  const [old, now] = [membersOf(before), membersOf(after)];
  const added = now.filter((name) => !old.includes(name)).map((name) => `${name} is new`);
  const removed = old.filter((name) => !now.includes(name)).map((name) => `${name} is gone`);
  return [...added, ...removed].join(", ") || "services or their peers changed";
}
