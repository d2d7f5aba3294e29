import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { tempFolder } from "../processes.ts";
import { serve, type Side } from "./server.ts";

/** The floor: `floor-server.ts`, see there. */
export function createFloor(): Side {
  const folder = tempFolder();
  let stores = 0;
  return {
    name: "floor",
    dispose: folder.remove,
    start: ({ peer, store = join(folder.path, `store-${stores++}`) } = {}) => {
      mkdirSync(store, { recursive: true });
      const env = { FLOOR_STORE: store, ...(peer === undefined ? {} : { BENCH_PEER_URL: peer.origin }) };
      return serve("floor", store, (port) => ({
        cwd: folder.path,
        args: [join(import.meta.dirname, "floor-server.ts")],
        env: { ...env, PORT: String(port) },
      }));
    },
  };
}
