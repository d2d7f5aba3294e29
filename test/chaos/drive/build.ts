import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { buildWorkspace, ROOT, type BuiltWorkspace } from "../../support/build-workspace.ts";

const FIXTURES = "test/fixtures/chaos";

/** The agents: who they are, what is in their `tools/`, and how far up `lib/` is. */
const AGENTS = [
  { dir: "caller/agent", name: "caller", description: "Calls others.", tools: ["work", "audit"], up: "." },
  { dir: "caller/agent/subagents/worker", name: "worker", description: "Does a part.", tools: ["work"], up: "../.." },
  {
    dir: "caller/agent/subagents/worker/subagents/helper",
    name: "helper",
    description: "Helps a worker.",
    tools: [],
    up: "../../../..",
  },
  { dir: "peer/agent", name: "peer", description: "Works elsewhere.", tools: ["work"], up: "." },
  { dir: "peer/agent/subagents/clerk", name: "clerk", description: "Helps a peer.", tools: ["work"], up: "../.." },
] as const;

/** The same peer, called as a member of the workspace and as any other deployment is. */
const REFERENCES = {
  peer: `import { defineWorkspaceAgent } from "eve";
    export default defineWorkspaceAgent({ name: "peer" });`,
  far: `import { defineRemoteAgent } from "eve";
    export default defineRemoteAgent({ description: "Far away.", url: () => process.env.TEST_FAR_URL ?? "" });`,
};

/** The two members of the chaos test, each with the model, the tools and the record in its `lib/`. */
export function buildChaosWorkspace(): Promise<BuiltWorkspace> {
  const files: Record<string, string> = {};
  for (const { dir, name, description, tools, up } of AGENTS) {
    files[`agents/${dir}/agent.ts`] = `
      import { defineAgent } from "eve";
      import { programModel } from "${up}/lib/program-model.ts";
      export default defineAgent({ description: "${description}", model: programModel("${name}") });
    `;
    for (const tool of tools) {
      files[`agents/${dir}/tools/${tool}.ts`] = `export { ${tool} as default } from "../${up}/lib/work.ts";`;
    }
  }
  for (const [name, source] of Object.entries(REFERENCES)) files[`agents/caller/agent/subagents/${name}.ts`] = source;
  for (const file of readdirSync(join(ROOT, FIXTURES, "lib"))) {
    const content = readFileSync(join(ROOT, FIXTURES, "lib", file), "utf8");
    for (const member of ["caller", "peer"]) files[`agents/${member}/agent/lib/${file}`] = content;
  }
  return buildWorkspace([`${FIXTURES}/caller`, `${FIXTURES}/peer`], files);
}
