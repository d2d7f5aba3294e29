import { expect, onTestFinished, test } from "vitest";
import type { Diagnostic } from "../discover/index.ts";
import { createFixtureWorkspace } from "../discover/fixture-workspace.ts";
import { agent } from "./definitions.fixture.ts";
import { compileMember } from "./index.ts";

test("§7 eve/tools/agent belongs to its slot, and a subagent has no copy of itself", async () => {
  const restored = `export { default } from "eve/tools/agent";`;
  const workspace = createFixtureWorkspace({
    "agents/a/agent/subagents/a/agent.ts": agent(`  description: "d",`),
    "agents/a/agent/subagents/a/tools/agent.ts": restored,
    "agents/a/agent/tools/agent.ts": restored,
    "agents/a/agent/tools/other.ts": restored,
  });
  onTestFinished(() => workspace.remove());
  const { diagnostics, warnings } = await compileMember({ memberDir: workspace.member("a") });
  expect(diagnostics.map(place)).toEqual(["EXPORT_KIND tools/other.ts:1"]);
  expect(warnings.map(place)).toEqual(["ROOT_AGENT_UNUSED subagents/a/tools/agent.ts:1"]);
});

function place({ code, path, line }: Diagnostic): string {
  return `${code} ${path.replace("agents/a/agent/", "")}:${line}`;
}
