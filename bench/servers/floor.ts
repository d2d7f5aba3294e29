import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { stripTypeScriptTypes } from "node:module";
import { join } from "node:path";
import { tempFolder } from "../processes.ts";
import { serve, type Side } from "./server.ts";

/** The floor: `floor-server.ts`, see there. */
export function createFloor(): Side {
  const folder = tempFolder();
  let stores = 0;
  // Stripped beforehand: the floor is what plain Node costs, without its TypeScript loader.
  const server = join(folder.path, "floor-server.mjs");
  const source = readFileSync(join(import.meta.dirname, "floor-server.ts"), "utf8");
  writeFileSync(server, stripTypeScriptTypes(source));
  return {
    name: "floor",
    dispose: folder.remove,
    start: ({ peer, store = join(folder.path, `store-${stores++}`) } = {}) => {
      mkdirSync(store, { recursive: true });
      const env = { FLOOR_STORE: store, ...(peer === undefined ? {} : { BENCH_PEER_URL: peer.origin }) };
      return serve("floor", store, (port) => ({
        cwd: folder.path,
        args: [server],
        env: { ...env, PORT: String(port) },
      }));
    },
  };
}
