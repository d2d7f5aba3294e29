import { existsSync, readFileSync } from "node:fs";
import { once } from "node:events";
import { basename, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { discoverWorkspace, envFilesOf, resolveEnv, type Env } from "../discover/index.ts";
import { AgentError } from "../errors.ts";
import type { Manifest } from "../protocol/manifest.ts";
import { toConversation } from "./conversation.ts";
import { toOrigin } from "./dev/platform.ts";
import { parseAddress } from "./parse-address.ts";
import { watchLauncher } from "./watch-launcher.ts";

/**
 * `eve start [--host 127.0.0.1] [--port 4000]`: runs the built member of the working directory in this process, with
 * the variables of its `.env` files.
 *
 * @returns the exit code, once the server has closed.
 * @throws AgentError `BUILD_FAILED` when there is no build.
 */
export async function start(args: string[]): Promise<number> {
  const { host, port } = parseAddress(args);
  const server = resolve(".eve/build/server.mjs");
  if (!existsSync(server)) {
    throw new AgentError("BUILD_FAILED", `agents/${basename(process.cwd())} is not built.`, {
      fix: "Run eve build in the folder of the member first.",
    });
  }
  process.setSourceMapsEnabled(true);
  const memberDir = process.cwd();
  const env = resolveEnv(envFilesOf(memberDir, discoverWorkspace(memberDir)?.root), process.env);
  Object.assign(process.env, env, { HOST: host, PORT: String(port) });
  const closed = once(process, "beforeExit");
  await import(pathToFileURL(server).href);
  watchLauncher(() => process.kill(process.pid, "SIGTERM"));
  printReady(env, `${toOrigin({}, { host, port })}/eve`);
  await closed;
  return typeof process.exitCode === "number" ? process.exitCode : 0;
}

/** Where the member is, who may call it, and in a terminal how. */
function printReady(env: Env, mount: string): void {
  const { member, channel } = JSON.parse(readFileSync(".eve/build/manifest.json", "utf8")) as Manifest;
  const base = `${mount}/${member}/v1`;
  const file = `agents/${member}/agent/channels/eve.ts`;
  const isOpen = channel !== undefined || env.EVE_DEV === "1";
  const who = isOpen
    ? channel === undefined
      ? "Everybody who reaches it may call it (EVE_DEV=1)."
      : `Who may call it: ${file}.`
    : `Nobody may call it: say who may in ${file} (docs/guides/authentication.md).`;
  process.stderr.write(`${member} ready at ${base}\n${who}\n`);
  if (isOpen && process.stdout.isTTY) process.stdout.write(`\n${toConversation(member, base).join("\n")}\n`);
}
