import * as z from "zod";
import { AgentError } from "../errors.ts";
import { manifestSchema, type Manifest } from "../protocol/manifest.ts";

/**
 * The manifest of a bundle, checked.
 *
 * @throws AgentError `CONFIG_INVALID` when it is none that this runtime reads.
 */
export function parseManifest(manifest: unknown): Manifest {
  const parsed = manifestSchema.safeParse(manifest);
  if (parsed.success) return parsed.data;
  const problems = z.prettifyError(parsed.error).replace(/\s*\n\s*/g, " ");
  throw new AgentError("CONFIG_INVALID", `manifest.json is none that this version of eve reads: ${problems}.`, {
    fix: "Build the member again, with the version of eve that it runs with.",
  });
}
