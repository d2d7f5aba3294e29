/**
 * The process that serves a member during development. The supervisor of `eve dev` owns the public port and sends
 * every good build; this process takes it up without ending, so that sessions and running tools go on. It runs from
 * source and is part of no bundle.
 */
import { readFileSync } from "node:fs";
import type { AddressInfo } from "node:net";
import { basename, join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { pathToFileURL } from "node:url";
import { createAdaptorServer } from "@hono/node-server";
import { AgentError, messageOf } from "../errors.ts";
import type { LoadBuild, ServingError, ServingMessage, Settle } from "../protocol/dev-messages.ts";
import type { Modules } from "../registry/registry.ts";
import { describeFailure, formatStack } from "../effects/authored-stack.ts";
import { createMember, type Bundle, type Member } from "./member.ts";
import { surviveStrayRejections } from "./stray-rejection.ts";

/** What a clean stop gives tools that must not run twice; less than the supervisor waits before it kills. */
const GRACE_MS = 1_000;

const { env } = process;
/** How often it is looked whether something still works. */
const POLL_MS = 50;
let member: Member | undefined;
/** Requests that have no response yet; a stream that goes on has one. */
let answering = 0;
// One after the other: the last build that was sent is the one that stays.
let loading: Promise<void> = Promise.resolve();

process.on("uncaughtException", crash);
surviveStrayRejections(env, log);
for (const signal of ["SIGTERM", "SIGINT"] as const) process.once(signal, () => void stop());
// Waiting for the first build must keep this process alive.
process.channel?.ref();
process.on("message", (message: LoadBuild | Settle) => {
  if (message.type === "load") loading = loading.then(() => load(message));
  else void settle(message);
});

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
  const server = createAdaptorServer({ fetch: (request) => answer(created, request) });
  // The proxy before it reuses connections: one that is closed while a request is on its way loses that request.
  if ("keepAliveTimeout" in server) server.keepAliveTimeout = 0;
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  created.describe({ pid: process.ppid, host: env.HOST, port: Number(env.PORT) });
  member = created;
  await created.start();
  await send({ type: "listening", port: (server.address() as AddressInfo).port });
}

async function answer(to: Member, request: Request): Promise<Response> {
  answering++;
  try {
    return await to.fetch(request);
  } finally {
    answering--;
  }
}

async function settle({ what, withinMs }: Settle): Promise<void> {
  const deadline = performance.now() + withinMs;
  const isQuiet = async (): Promise<boolean> => {
    if (answering > 0) return false;
    // A store that can not be read says nothing: the time decides.
    return what === "requests" || (await member?.isQuiet().catch(() => false)) === true;
  };
  // Seen twice, for a request may have been on its way when the first look found none.
  let seen = 0;
  while (seen < 2 && performance.now() < deadline) {
    if (seen > 0) await delay(POLL_MS);
    seen = (await isQuiet()) ? seen + 1 : 0;
    if (seen === 0) await delay(POLL_MS);
  }
  await send({ type: "settled", quiet: seen === 2 });
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
  await member?.close(GRACE_MS);
  process.exit(0);
}

/** What the code left half done is unknown: the supervisor starts another process, and says why. */
function crash(error: unknown): void {
  log(formatStack(error, env));
  // The supervisor runs in the folder of the member, and so does this process.
  const message = describeFailure(error, basename(process.cwd()));
  void send({ type: "crashed", error: { ...toServingError(error), message } }).finally(() => process.exit(1));
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
