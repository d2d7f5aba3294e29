import { readFileSync } from "node:fs";
import { join } from "node:path";
import { buildWorkspace, ROOT, type BuiltWorkspace } from "./build-workspace.ts";

const NODES = {
  "agents/foreman/agent": "foreman",
  "agents/foreman/agent/subagents/reviewer": "reviewer",
  "agents/research/agent": "research",
} as const;
const TOOLS = {
  "agents/foreman/agent/subagents/reviewer": "readability",
  "agents/research/agent": "look_up",
} as const;

/** The real foreman and research, and a note of every effect they run (`fixtures/record.ts`). */
export function buildRecordedWorkspace(): Promise<BuiltWorkspace> {
  const files: Record<string, string> = {};
  const record = read("test/fixtures/record.ts");
  for (const [dir, node] of Object.entries(NODES)) {
    files[`${dir}/lib/record.ts`] = record;
    files[`${dir}/lib/agent.ts`] = read(`${dir}/agent.ts`);
    files[`${dir}/agent.ts`] = `
      import { defineAgent } from "eve";
      import { offlineModel } from ${JSON.stringify(join(ROOT, "packages/runtime/src/models/offline-model.ts"))};
      import { recordModel } from "./lib/record.ts";
      import { default as agent } from "./lib/agent.ts";
      export default defineAgent({ description: agent.description, model: recordModel("${node}", offlineModel()) });
    `;
  }
  for (const [dir, tool] of Object.entries(TOOLS)) {
    // In `lib/` its imports of `../lib/…` still fit.
    files[`${dir}/lib/${tool}.ts`] = read(`${dir}/tools/${tool}.ts`);
    files[`${dir}/tools/${tool}.ts`] = `
      import { recordTool } from "../lib/record.ts";
      import { default as tool } from "../lib/${tool}.ts";
      export default recordTool("${tool}", tool);
    `;
  }
  return buildWorkspace(["agents/research", "agents/foreman"], files);
}

function read(path: string): string {
  return readFileSync(join(ROOT, path), "utf8");
}
