import { AgentError } from "../errors.ts";

export interface Address {
  readonly host: string;
  readonly port: number;
}

const DEFAULTS: Address = { host: "127.0.0.1", port: 4000 };

/**
 * Where a member listens: `--host` and `--port`, else `HOST` and `PORT`, else 127.0.0.1:4000.
 *
 * @throws AgentError `CONFIG_INVALID`
 */
export function parseAddress(args: readonly string[], env: NodeJS.ProcessEnv = process.env): Address {
  const given = new Map<string, string>();
  for (let index = 0; index < args.length; index++) {
    const [, name, inline] = /^--(host|port)(?:=(.*))?$/.exec(args[index]!) ?? [];
    const value = inline ?? (name === undefined ? undefined : args[++index]);
    if (name === undefined || value === undefined || value === "") throw usage(`"${args[index] ?? args.at(-1)}"`);
    given.set(name, value);
  }
  const port = given.get("port") ?? env.PORT ?? String(DEFAULTS.port);
  if (!/^\d{1,5}$/.test(port) || Number(port) > 65_535) throw usage(`the port "${port}"`);
  return { host: given.get("host") ?? env.HOST ?? DEFAULTS.host, port: Number(port) };
}

function usage(what: string): AgentError {
  return new AgentError("CONFIG_INVALID", `${what} is not understood.`, {
    fix: "Use --host <address> and --port <1-65535>, or the variables HOST and PORT.",
  });
}
