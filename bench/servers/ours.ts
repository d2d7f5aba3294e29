import { mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { runToEnd, tempFolder } from "../processes.ts";
import { copyFixture, serve, type Side } from "./server.ts";

const BENCH = join(import.meta.dirname, "..");
const CLI = "node_modules/eve/bin/eve.mjs";

/** The runtime of this repository: `eve build`, then `eve start`. */
export async function createOurs(): Promise<Side> {
  const folder = tempFolder();
  const member = join(folder.path, "agents/lead");
  copyFixture(member);
  writeFileSync(join(folder.path, "pnpm-workspace.yaml"), "packages: [agents/*]\n");
  const dependencies = { eve: "workspace:*", zod: "*" };
  writeFileSync(join(member, "package.json"), JSON.stringify({ name: "lead", type: "module", dependencies }));
  symlinkSync(join(BENCH, "node_modules"), join(member, "node_modules"));
  let stores = 0;

  const build = async (): Promise<number> => {
    rmSync(join(member, ".eve"), { recursive: true, force: true });
    const begun = performance.now();
    await runToEnd({ cwd: member, args: [CLI, "build"] });
    return performance.now() - begun;
  };
  await build();

  return {
    name: "ours",
    build,
    dispose: folder.remove,
    start: ({ peer, store = join(folder.path, `store-${stores++}`), env: more = {} } = {}) => {
      mkdirSync(store, { recursive: true });
      const env = { ...more, EVE_STORE: store, ...(peer === undefined ? {} : { BENCH_PEER_URL: peer.origin }) };
      const profile = process.env.BENCH_PROFILE ? [`--cpu-prof`, `--cpu-prof-dir=${process.env.BENCH_PROFILE}`] : [];
      return serve("ours", store, (port) => ({
        cwd: member,
        args: [...profile, CLI, "start", "--host", "127.0.0.1", "--port", String(port)],
        env,
      }));
    },
  };
}
