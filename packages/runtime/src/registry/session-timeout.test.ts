import { expect, test } from "vitest";
import { defineAgent, type AgentLimits } from "../define/index.ts";
import type { ManifestNode } from "../protocol/manifest.ts";
import { createRegistry, type Registry } from "./registry.ts";
import { sessionTimeoutOf } from "./session-timeout.ts";

const MONTH_MS = 30 * 86_400_000;

function registryOf(root: AgentLimits | undefined, helper: AgentLimits | undefined): Registry {
  const node = (id: string, source: string): ManifestNode => ({
    id,
    name: id,
    description: "",
    source,
    modelId: "m",
    tools: [],
    subagents: [],
    composition: [],
  });
  const define = (limits: AgentLimits | undefined): unknown => defineAgent(limits === undefined ? {} : { limits });
  const nodes = [node("root", "agent.ts"), node("root/helper", "subagents/helper/agent.ts")];
  return createRegistry(
    { version: 1, member: "lead", buildId: "b", nodes },
    { "agent.ts": define(root), "subagents/helper/agent.ts": define(helper) },
  );
}

test.each<[root: AgentLimits | undefined, helper: AgentLimits | undefined, number | undefined, number | undefined]>([
  [undefined, undefined, MONTH_MS, MONTH_MS],
  [{}, {}, MONTH_MS, MONTH_MS],
  [{ sessionTimeoutMs: 1_000 }, undefined, 1_000, 1_000],
  [{ sessionTimeoutMs: 1_000 }, { sessionTimeoutMs: 2_000 }, 1_000, 2_000],
  [{ sessionTimeoutMs: false }, undefined, undefined, undefined],
  [{ sessionTimeoutMs: 1_000 }, { sessionTimeoutMs: false }, 1_000, undefined],
  [undefined, { sessionTimeoutMs: 2_000 }, MONTH_MS, 2_000],
])("is what the agent says, else the root, else 30 days", (root, helper, ofRoot, ofHelper) => {
  const registry = registryOf(root, helper);
  expect(sessionTimeoutOf(registry, "root")).toBe(ofRoot);
  expect(sessionTimeoutOf(registry, "root/helper")).toBe(ofHelper);
});

test("an agent that is gone from the build has the root's", () => {
  expect(sessionTimeoutOf(registryOf({ sessionTimeoutMs: 5 }, undefined), "root/gone")).toBe(5);
});
