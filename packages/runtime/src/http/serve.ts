import { randomInt } from "node:crypto";
import { mkdirSync } from "node:fs";
import type { AddressInfo } from "node:net";
import { join, resolve } from "node:path";
import { createAdaptorServer } from "@hono/node-server";
import { monotonicFactory } from "ulid";
import { isDevelopment, localDev } from "../channels/auth.ts";
import type { EveChannelDefinition } from "../channels/eve.ts";
import { createPerform } from "../effects/perform.ts";
import { AgentError, messageOf } from "../errors.ts";
import { createSqlHost } from "../host/sql/host.ts";
import { lockStore } from "../host/sql/lock.ts";
import { openSqliteStore } from "../host/sql/sqlite.ts";
import { describeModel } from "../models/resolve-model.ts";
import { manifestSchema } from "../protocol/manifest.ts";
import { createRegistry, type Modules } from "../registry/registry.ts";
import { createCallbackTokens } from "../transport/callback-token.ts";
import { VERSION } from "../version.ts";
import { createApp } from "./app.ts";
import { createFault } from "./fault.ts";

/** What `eve build` made of a member. */
export interface Bundle {
  /** Content of `manifest.json`. */
  readonly manifest: unknown;
  readonly modules: Modules;
}

/**
 * Serves a built member: the one place where all parts are put together. Reads `PORT` (default 4000), `HOST`
 * (default 127.0.0.1), `EVE_STORE` (folder of the store, default `.eve/store`) and `EVE_ORIGIN` (origin under which
 * others reach this member, when that is not its own address).
 *
 * @throws AgentError `STORE_LOCKED`, `STORE_UNUSABLE`, `PORT_IN_USE`, `CONFIG_INVALID`.
 */
export async function serve(bundle: Bundle): Promise<void> {
  const { env } = process;
  const registry = createRegistry(manifestSchema.parse(bundle.manifest), bundle.modules);
  const { member } = registry.manifest;
  const log = (line: string): void => void process.stderr.write(`[${member}] ${line}\n`);
  const folder = resolve(env.EVE_STORE ?? ".eve/store");
  mkdirSync(folder, { recursive: true });
  const lock = lockStore(join(folder, "store.lock"));
  const store = openSqliteStore(join(folder, "store.db"));
  const tokens = createCallbackTokens(await store.secret());
  const modelFacts = (nodeId: string) => describeModel(registry.node(nodeId).model, env);
  const base = `/eve/${member}/v1`;
  const hostname = env.HOST ?? "127.0.0.1";
  let port = Number(env.PORT ?? 4000);
  const ulid = monotonicFactory();
  const newSessionId = (): string => `ses_${ulid()}`;
  const fault = createFault(env);

  const host = createSqlHost({
    store,
    perform: createPerform({
      registry,
      env,
      tokens,
      publicBase: () => `${originOf(env, hostname, port)}${base}`,
      modelFacts,
    }),
    surroundings: ({ sessionId, nodeId }) => ({
      sessionId,
      modelId: modelFacts(nodeId).modelId,
      eveVersion: VERSION,
      base,
      newSessionId,
      random,
    }),
    newSessionId,
    newEventId: () => `evt_${ulid()}`,
    now: Date.now,
    onError: (error, sessionId) => log(`${sessionId}: ${messageOf(error)}`),
    ...(fault === undefined ? {} : { fault }),
  });

  const channel = registry.manifest.channel;
  const app = createApp({
    host,
    registry,
    auth: channel === undefined ? [localDev()] : (bundle.modules[channel] as EveChannelDefinition).auth,
    tokens,
    env,
    modelFacts,
    mode: isDevelopment(env) ? "development" : "production",
    log,
  });
  const server = createAdaptorServer({ fetch: app.fetch });
  ({ port } = await listen(server, port, hostname));
  lock.describe({ pid: process.pid, port });
  await host.start();

  const stop = async (): Promise<void> => {
    server.close();
    if ("closeAllConnections" in server) server.closeAllConnections();
    await host.close();
    lock.release();
    process.exit(0);
  };
  process.once("SIGTERM", stop);
  process.once("SIGINT", stop);
}

/** Origin that callbacks come back to: stable across restarts wherever the platform has one. */
function originOf(env: NodeJS.ProcessEnv, hostname: string, port: number): string {
  if (env.EVE_ORIGIN) return env.EVE_ORIGIN.replace(/\/+$/, "");
  if (env.VERCEL === "1" && env.VERCEL_URL) {
    return `${env.VERCEL_ENV === "development" ? "http" : "https"}://${env.VERCEL_URL}`;
  }
  return `http://${hostname}:${port}`;
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

const ALPHABET = "abcdefghijklmnopqrstuvwxyz0123456789";

function random(length: number): string {
  return Array.from({ length }, () => ALPHABET[randomInt(ALPHABET.length)]).join("");
}
