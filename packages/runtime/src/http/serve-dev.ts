/**
 * The process that serves a member during development. The supervisor of `eve dev` owns the public port and sends
 * every good build; this process takes it up without ending, so that sessions and running tools go on. It runs from
 * source and is part of no bundle.
 */
import { readFileSync } from "node:fs";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { createAdaptorServer } from "@hono/node-server";
import { AgentError, messageOf } from "../errors.ts";
import type { LoadBuild, ServingError, ServingMessage } from "../protocol/dev-messages.ts";
import type { Modules } from "../registry/registry.ts";
import { formatStack } from "../effects/authored-stack.ts";
import { createMember, type Bundle, type Member } from "./member.ts";
import { surviveStrayRejections } from "./stray-rejection.ts";

const { env } = process;
let member: Member | undefined;
// One after the other: the last build that was sent is the one that stays.
let loading: Promise<void> = Promise.resolve();

process.on("uncaughtException", crash);
surviveStrayRejections(env, log);
for (const signal of ["SIGTERM", "SIGINT"] as const) process.once(signal, () => void stop());
// Waiting for the first build must keep this process alive.
process.channel?.ref();
process.on("message", (message: LoadBuild) => (loading = loading.then(() => load(message))));

async function load({ folder }: LoadBuild): Promise<void> {
  try {
    const bundle = await readBundle(folder);
    if (member === undefined) return await start(bundle);
    member.swap(bundle);
    await send({ type: "swapped", folder, rss: process.memoryUsage.rss() });
  } catch (error) {
    await send({ type: "failed", folder, error: toServingError(error) });
    if (member === undefined) process.exit(1);
  }
}

async function start(bundle: Bundle): Promise<void> {
  const created = await createMember(bundle, {
    env,
    storeFolder: env.EVE_STORE!,
    origin: () => env.EVE_ORIGIN!,
    log,
  });
  const server = createAdaptorServer({ fetch: (request) => created.fetch(request) });
  // The proxy before it reuses connections: one that is closed while a request is on its way loses that request.
  if ("keepAliveTimeout" in server) server.keepAliveTimeout = 0;
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  created.describe({ pid: process.ppid, port: Number(env.PORT) });
  member = created;
  await created.start();
  await send({ type: "listening", port: (server.address() as AddressInfo).port });
}

function log(line: string): void {
  process.stderr.write(`${line}\n`);
}

async function readBundle(folder: string): Promise<Bundle> {
  const manifest: unknown = JSON.parse(readFileSync(join(folder, "manifest.json"), "utf8"));
  const { modules } = (await import(pathToFileURL(join(folder, "modules.mjs")).href)) as { modules: Modules };
  return { manifest, modules, folder: pathToFileURL(`${folder}/`) };
}

async function stop(): Promise<void> {
  await member?.close();
  process.exit(0);
}

function crash(error: unknown): void {
  process.stderr.write(`${formatStack(error, env)}\n`);
  void send({ type: "crashed", error: toServingError(error) }).finally(() => process.exit(1));
}

function toServingError(error: unknown): ServingError {
  const message = messageOf(error);
  if (!AgentError.is(error)) return { message };
  return { code: error.code, message, ...(error.fix === undefined ? {} : { fix: error.fix }) };
}

function send(message: ServingMessage): Promise<void> {
  return new Promise((resolve) => {
    if (process.connected) process.send!(message, undefined, undefined, () => resolve());
    else resolve();
  });
}
