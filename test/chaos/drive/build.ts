import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { buildWorkspace, ROOT, type BuiltWorkspace } from "../../support/build-workspace.ts";

const FIXTURES = "test/fixtures/chaos";

/** The two members of the chaos test, each with the model, the tools and the record in its `lib/`. */
export function buildChaosWorkspace(): Promise<BuiltWorkspace> {
  const files: Record<string, string> = {};
  for (const file of readdirSync(join(ROOT, FIXTURES, "lib"))) {
    const content = readFileSync(join(ROOT, FIXTURES, "lib", file), "utf8");
    for (const member of ["caller", "peer"]) files[`agents/${member}/agent/lib/${file}`] = content;
  }
  return buildWorkspace([`${FIXTURES}/caller`, `${FIXTURES}/peer`], files);
}
