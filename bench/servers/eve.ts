import { createHash } from "node:crypto";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { runToEnd, tempFolder } from "../processes.ts";
import { copyFixture, serve, type Side } from "./server.ts";

/** What is compared with, pinned; `just-bash` is the lightest of the sandboxes that its build insists on. */
const PACKAGES = { eve: "0.80.1", ai: "7.0.173", zod: "4.6.7", "just-bash": "3.3.0" } as const;
const INSTALL_MS = 300_000;

const CACHE = join(
  process.env.BENCH_CACHE ?? join(process.env.XDG_CACHE_HOME ?? join(homedir(), ".cache"), "agent-workspace-bench"),
  `eve-${PACKAGES.eve}`,
);
const CLI = join(CACHE, "node_modules/eve/bin/eve.js");

const SANDBOX = `import { defineSandbox } from "eve/sandbox";
import { JustBashSandbox } from "eve/sandbox/just-bash";

export const environment = JustBashSandbox.environment();
export default defineSandbox(() => environment.open());
`;

/**
 * The npm package `eve`, installed into a cache folder outside of the repository. A build of the fixture is kept
 * there, too, until the fixture changes.
 *
 * @throws Error when it can not be installed.
 */
export async function createEve(say: (line: string) => void): Promise<Side> {
  await install(say);
  const runs = join(CACHE, "runs");
  const source = tempFolder(runs);
  copyFixture(source.path);
  for (const node of ["agent", "agent/subagents/helper"]) adapt(join(source.path, node));
  const manifest = { name: "lead", private: true, type: "module", dependencies: PACKAGES, engines: { node: "24.x" } };
  writeFileSync(join(source.path, "package.json"), JSON.stringify(manifest));
  const built = join(CACHE, `built-${hashOf(source.path)}`);
  const folders: (() => void)[] = [source.remove];

  const build = async (): Promise<number> => {
    for (const made of [".eve", ".output"]) rmSync(join(source.path, made), { recursive: true, force: true });
    const begun = performance.now();
    await runToEnd({ cwd: source.path, args: [CLI, "build"] });
    return performance.now() - begun;
  };
  if (!existsSync(built)) {
    say("building the fixture with eve (kept for later runs)");
    await build();
    cpSync(source.path, `${source.path}-built`, { recursive: true, verbatimSymlinks: true });
    renameSync(`${source.path}-built`, built);
  }

  return {
    name: "eve",
    build,
    dispose: () => folders.forEach((remove) => remove()),
    start: ({ peer, store } = {}) => {
      // It stores below its own folder.
      let cwd = store === undefined ? undefined : join(store, "../..");
      if (cwd === undefined) {
        const folder = tempFolder(runs);
        folders.push(folder.remove);
        cpSync(built, folder.path, { recursive: true, verbatimSymlinks: true });
        cwd = folder.path;
      }
      return serve("eve", join(cwd, ".eve/.workflow-data"), (port) => ({
        cwd,
        args: [CLI, "start", "--host", "127.0.0.1", "--port", String(port)],
        env: {
          // Else it lets its peers call back at port 3000, whatever it listens on.
          WORKFLOW_LOCAL_BASE_URL: `http://127.0.0.1:${port}`,
          ...(peer === undefined ? {} : { BENCH_PEER_URL: peer.origin }),
        },
      }));
    },
  };
}

/** What its build asks of an agent beyond the fixture: a sandbox, and the context window of an unknown model. */
function adapt(node: string): void {
  writeFileSync(join(node, "sandbox.ts"), SANDBOX);
  const agent = join(node, "agent.ts");
  const source = readFileSync(agent, "utf8");
  writeFileSync(agent, source.replace("model })", "model, modelContextWindowTokens: 1_000_000 })"));
}

async function install(say: (line: string) => void): Promise<void> {
  if (existsSync(join(CACHE, "installed"))) return;
  const wanted = Object.entries(PACKAGES).map(([name, version]) => `${name}@${version}`);
  say(`installing ${wanted.join(", ")} from npm into ${CACHE} (once; --no-eve runs without)`);
  mkdirSync(CACHE, { recursive: true });
  writeFileSync(join(CACHE, "package.json"), '{ "private": true, "type": "module" }\n');
  const args = ["install", "--no-audit", "--no-fund", "--loglevel=error", "--save-exact", ...wanted];
  const npm = spawn("npm", args, { cwd: CACHE, stdio: ["ignore", "ignore", "inherit"], timeout: INSTALL_MS });
  const failed = new Promise<string>((resolve) => npm.once("error", ({ message }) => resolve(message)));
  const ended = once(npm, "exit").then(([code, signal]) =>
    code === 0 ? undefined : `npm ended with ${code ?? signal}`,
  );
  const problem = await Promise.race([failed, ended]);
  if (problem !== undefined)
    throw new Error(`eve could not be installed: ${problem}. Run with --no-eve to do without.`);
  writeFileSync(join(CACHE, "installed"), `${wanted.join("\n")}\n`);
}

function hashOf(folder: string): string {
  const hash = createHash("sha256");
  for (const path of readdirSync(folder, { recursive: true, encoding: "utf8" }).sort()) {
    if (/\.(ts|md|json)$/.test(path)) hash.update(path).update(readFileSync(join(folder, path)));
  }
  return hash.digest("hex").slice(0, 12);
}
