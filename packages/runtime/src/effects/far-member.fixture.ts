import { defineRemoteAgent } from "../define/index.ts";
import { createRegistry } from "../registry/registry.ts";
import { createTestSandboxes } from "../sandbox/sandboxes.fixture.ts";
import { createCallbackTokens } from "../transport/callback-token.ts";
import type { Member } from "./perform.ts";

const SUBAGENT = { name: "far", kind: "remote", source: "subagents/far.ts", description: "Far.", tool: true } as const;
const NODE = {
  id: "root",
  name: "x",
  description: "",
  modelId: "m",
  tools: [],
  subagents: [SUBAGENT],
  composition: [],
};
const REGISTRY = createRegistry(
  { version: 1, member: "x", buildId: "b", nodes: [NODE] },
  { "subagents/far.ts": defineRemoteAgent({ url: "http://far.invalid", description: "Far." }) },
);

/** A member that knows nobody but the remote agent `far`. */
export const FAR_MEMBER: Member = {
  registry: () => REGISTRY,
  env: {},
  tokens: createCallbackTokens("s"),
  sandboxes: createTestSandboxes(() => REGISTRY),
  publicBase: () => "",
  lastEventAt: async () => undefined,
  log: () => {},
};
