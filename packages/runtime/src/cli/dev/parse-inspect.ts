import { once } from "node:events";
import { createServer, type AddressInfo } from "node:net";
import { AgentError } from "../../errors.ts";
import type { Address } from "../parse-address.ts";

const DEFAULT: Address = { host: "127.0.0.1", port: 9229 };
/** Any free port: several members can not share one. */
const ANY: Address = { host: "127.0.0.1", port: 0 };

export interface Inspect {
  /** Where a debugger connects; absent when none was asked for. */
  readonly address?: Address;
  /** The other arguments. */
  readonly rest: string[];
}

/**
 * Reads `--inspect[=[host:]port]`, else the variable `EVE_INSPECT`, which reaches every member of a workspace: `1` (each
 * at a free port), `<member>`, `<member>=[host:]port`, or `[host:]port`.
 *
 * @throws AgentError `CONFIG_INVALID`
 */
export function parseInspect(args: readonly string[], member: string, value: string | undefined): Inspect {
  const isFlag = (arg: string): boolean => /^--inspect(?:=|$)/.test(arg);
  const rest = args.filter((arg) => !isFlag(arg));
  const flag = args.findLast(isFlag);
  const address = flag === undefined ? fromVariable(value ?? "", member) : fromFlag(flag);
  return { rest, ...(address && { address }) };
}

function fromFlag(flag: string): Address {
  return flag === "--inspect" ? DEFAULT : toAddress(flag.slice("--inspect=".length), flag);
}

function fromVariable(value: string, member: string): Address | undefined {
  if (value === "" || value === "0" || value === "false") return undefined;
  if (value === "1" || value === "true") return ANY;
  if (value === member) return DEFAULT;
  if (value.startsWith(`${member}=`)) return toAddress(value.slice(member.length + 1), `EVE_INSPECT=${value}`);
  // The name of another member, with or without an address.
  if (/^[a-z][a-z0-9-]*(?:=.*)?$/.test(value)) return undefined;
  return toAddress(value, `EVE_INSPECT=${value}`);
}

function toAddress(text: string, given: string): Address {
  const [, host, port] = /^(?:([\w.-]+|\[[\da-f:]+\]):)?(\d{1,5})$/i.exec(text) ?? [];
  if (port !== undefined && Number(port) <= 65_535) return { host: host ?? DEFAULT.host, port: Number(port) };
  throw new AgentError("CONFIG_INVALID", `"${given}" names no address for a debugger.`, {
    fix: "Use --inspect, --inspect=<port> or --inspect=<host>:<port>.",
  });
}

/**
 * The flag for Node. The port is chosen once, so that a debugger finds a process that was started again.
 *
 * @throws AgentError `PORT_IN_USE`
 */
export async function toInspectFlag({ host, port }: Address): Promise<string> {
  const server = createServer();
  try {
    server.listen(port, host.replace(/^\[|\]$/g, ""));
    await once(server, "listening");
    return `--inspect=${host}:${(server.address() as AddressInfo).port}`;
  } catch (error) {
    throw new AgentError("PORT_IN_USE", `A debugger can not connect at ${host}:${port}: ${(error as Error).message}`, {
      fix: "Choose another address with --inspect=<host>:<port>, or stop what uses it.",
      data: { host, port },
    });
  } finally {
    server.close();
  }
}
