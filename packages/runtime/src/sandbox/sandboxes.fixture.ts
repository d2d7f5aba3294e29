import { randomUUID } from "node:crypto";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readFile } from "node:fs/promises";
import type { Registry } from "../registry/registry.ts";
import { embeddedProvider } from "./embedded/embedded-provider.ts";
import { shellOf } from "./embedded/shell.ts";
import { createSandboxes, type Sandboxes } from "./sandboxes.ts";

interface Places {
  /** Folder of the sandboxes; default one that is created when the first sandbox is. */
  readonly folder?: string;
  /** Folder of the build, for seeds. */
  readonly build?: URL;
}

/** The sandboxes of a member of a test, with the embedded shell from source. */
export function createTestSandboxes(
  registry: () => Registry,
  { folder = join(tmpdir(), `eve-sandboxes-${randomUUID()}`), build }: Places = {},
  log: (line: string) => void = () => {},
): Sandboxes {
  const embedded = embeddedProvider(() => shellOf({}));
  return createSandboxes({ folder, registry, readBuildFile: (file) => readFile(new URL(file, build)), embedded, log });
}
