import type { AddressInfo } from "node:net";
import { resolve } from "node:path";
import { createAdaptorServer } from "@hono/node-server";
import { AgentError } from "../errors.ts";
import { parseManifest } from "../registry/parse-manifest.ts";
import { createMember, type Bundle, type Member } from "./member.ts";
import { originOf, toLocalOrigin } from "./origin.ts";
import { surviveStrayRejections } from "./stray-rejection.ts";
import { endOnUncaughtException } from "./uncaught-exception.ts";

export { exitWith } from "./start-error.ts";

/** What a clean stop gives tools that must not run twice; process managers wait at least twice as long. */
const GRACE_MS = 5_000;

/**
 * Serves a built member on a port. Reads `PORT` (default 4000), `HOST` (default 127.0.0.1), `EVE_STORE` (folder of
 * the store, default `.eve/store`) and `EVE_ORIGIN` (origin under which others reach this member, when that is not
 * its own address), and of `createMember` the others, such as `EVE_RETENTION_DAYS`.
 *
 * @throws AgentError `STORE_LOCKED`, `STORE_UNUSABLE`, `STORE_FULL`, `PORT_IN_USE`, `CONFIG_INVALID`.
 */
export async function serve(bundle: Bundle): Promise<Member> {
  const { env } = process;
  const log = (line: string): void => void process.stderr.write(`${line}\n`);
  surviveStrayRejections(env, log);
  endOnUncaughtException(parseManifest(bundle.manifest).member, env, log);
  const hostname = env.HOST ?? "127.0.0.1";
  let port = Number(env.PORT ?? 4000);
  const member = await createMember(bundle, {
    env,
    storeFolder: resolve(env.EVE_STORE ?? ".eve/store"),
    origin: () => originOf(env, toLocalOrigin(hostname, port)),
    log,
  });
  const server = createAdaptorServer({ fetch: (request) => member.fetch(request) });
  ({ port } = await listen(server, port, hostname));
  member.describe({ pid: process.pid, host: hostname, port });
  await member.start();

  const stop = async (): Promise<void> => {
    server.close();
    if ("closeAllConnections" in server) server.closeAllConnections();
    await member.close(GRACE_MS);
    process.exit(0);
  };
  process.once("SIGTERM", stop);
  process.once("SIGINT", stop);
  return member;
}

function listen(server: ReturnType<typeof createAdaptorServer>, port: number, hostname: string): Promise<AddressInfo> {
  return new Promise((resolveListening, reject) => {
    server.once("error", (error: NodeJS.ErrnoException) => {
      const taken = error.code === "EADDRINUSE";
      reject(
        new AgentError(taken ? "PORT_IN_USE" : "INTERNAL", `Can not listen on ${hostname}:${port}: ${error.message}.`, {
          fix: "Choose another port with PORT, or stop what uses it.",
          cause: error,
        }),
      );
    });
    server.listen(port, hostname, () => resolveListening(server.address() as AddressInfo));
  });
}
