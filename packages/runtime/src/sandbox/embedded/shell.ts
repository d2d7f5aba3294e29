import type { Manifest } from "../../protocol/manifest.ts";

/** The module that a command's thread runs: a file of the build, or this runtime's own source during development. */
export function shellOf({ shell }: Pick<Manifest, "shell">, folder?: URL): URL {
  return shell === undefined ? new URL("./worker.ts", import.meta.url) : new URL(shell, folder);
}
