import { readFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { AgentError } from "eve";
import { findRunning, isAlive } from "./dev-folder.ts";

export interface Listen {
  readonly host: string;
  readonly port: number;
  /** Where a program on this machine reaches it. */
  readonly origin: string;
}

const DEFAULT = "127.0.0.1:3000";

/** Reads `--listen host:port`, `--listen port` and `--json`. */
export function parseListen(args: readonly string[]): { listen: Listen; json: boolean } {
  let listen = DEFAULT;
  let json = false;
  for (let index = 0; index < args.length; index++) {
    const arg = args[index]!;
    if (arg === "--json") json = true;
    else if (arg === "--listen" || arg === "-l") listen = args[++index] ?? "";
    else if (arg.startsWith("--listen=")) listen = arg.slice("--listen=".length);
    else if (arg !== "--") throw usage(`pnpm dev has no option "${arg}".`);
  }
  const [, host, port] = /^(?:(\[[^\]]+\]|[^:\s]+):)?(\d{1,5})$/.exec(listen) ?? [];
  if (port === undefined || Number(port) < 1 || Number(port) > 65_535) {
    throw usage(`pnpm dev can not listen at "${listen}".`);
  }
  return { listen: toListen(host ?? "127.0.0.1", Number(port)), json };
}

function toListen(host: string, port: number): Listen {
  const reachable = { "0.0.0.0": "127.0.0.1", "[::]": "[::1]" }[host] ?? host;
  return { host, port, origin: `http://${reachable}:${port}` };
}

function usage(message: string): AgentError {
  return new AgentError("CONFIG_INVALID", message, {
    fix: `Use pnpm dev [--listen <host>:<port> | --listen <port>] [--json]; the default is ${DEFAULT}.`,
  });
}

/**
 * Fails early and says who is in the way: the CLI would take the next port.
 *
 * @throws AgentError `PORT_IN_USE`
 */
export async function checkCanListen(root: string, { host, port }: Listen): Promise<void> {
  const own = findRunning(root);
  const running = own ?? readLock(root);
  if (running !== undefined) {
    const { pid, port: taken } = running;
    throw new AgentError(
      "PORT_IN_USE",
      `This workspace already runs: \`${own ? "pnpm dev" : "vercel dev"}\` with pid ${pid}, port ${taken}.`,
      { fix: `Stop it first: press Ctrl-C in its terminal, or run \`kill ${pid}\`.`, data: { pid, port: taken } },
    );
  }
  const error = await tryListen(host, port);
  if (error === undefined) return;
  if (error.code !== "EADDRINUSE") {
    throw new AgentError("CONFIG_INVALID", `Can not listen at ${host}:${port}: ${error.message}`, {
      fix: "Choose an address of this machine with --listen <host>:<port>.",
    });
  }
  throw new AgentError("PORT_IN_USE", `Port ${port} of ${host} is in use by another process.`, {
    fix: `Stop that process, or choose another port: pnpm dev --listen ${host}:${port === 65_535 ? port - 1 : port + 1}`,
    data: { host, port },
  });
}

/** The CLI's own lock, unless the process that wrote it is gone. */
function readLock(root: string): { pid: number; port: number } | undefined {
  try {
    const { pid, port } = JSON.parse(readFileSync(join(root, ".vercel/dev.lock"), "utf8")) as {
      pid: number;
      port: number;
    };
    return isAlive(pid) ? { pid, port } : undefined;
  } catch {
    return undefined;
  }
}

function tryListen(host: string, port: number): Promise<NodeJS.ErrnoException | undefined> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once("error", resolve);
    server.listen(port, host.replace(/^\[|\]$/g, ""), () => server.close(() => resolve(undefined)));
  });
}
