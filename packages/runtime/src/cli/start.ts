import { existsSync } from "node:fs";
import { once } from "node:events";
import { basename, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { discoverWorkspace, envFilesOf, resolveEnv } from "../discover/index.ts";
import { AgentError } from "../errors.ts";
import { parseAddress } from "./parse-address.ts";

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
  await closed;
  return typeof process.exitCode === "number" ? process.exitCode : 0;
}
