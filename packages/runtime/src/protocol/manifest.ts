import * as z from "zod";

/**
 * The compiled form of one member: data only, written by `eve build` beside the bundle and read once at start
 * (contract §4). Paths are relative to the member's `agent/` folder and use `/`.
 */
export const MANIFEST_VERSION = 1;

/** Name of the tool that calls a copy of the root agent (contract §7). */
export const ROOT_AGENT = "agent";

const visibility = z.union([z.boolean(), z.literal("deferred")]);

const toolSchema = z.object({
  name: z.string(),
  /** Module that default-exports the definition; a key of the bundle's module table. `eve/tools/<name>`: a default. */
  source: z.string(),
  description: z.string(),
  /** JSON Schema of the input. */
  inputSchema: z.record(z.string(), z.unknown()),
  onInterrupt: z.enum(["retry", "fail"]),
});

const subagentSchema = z.object({
  /** Path-derived name: what the model and `ctx.agent` use. */
  name: z.string(),
  kind: z.enum(["local", "remote", "peer"]),
  source: z.string(),
  description: z.string(),
  tool: visibility,
  /** `local`: the node it runs. */
  nodeId: z.string().optional(),
  /** `peer`: the workspace member it calls. */
  peer: z.string().optional(),
});

/** What is authored about the sandbox of a node. */
const sandboxSchema = z.object({
  /** Module that default-exports `defineSandbox(…)`. */
  source: z.string().optional(),
  /** What `/workspace` begins with: `path` in it, and the `file` of the build that holds the content. */
  seed: z.array(z.object({ path: z.string(), file: z.string(), executable: z.boolean() })),
});

/** Why a name is, or is not, among the tools that a node's model sees. */
const compositionSchema = z.object({
  name: z.string(),
  visible: z.boolean(),
  kind: z.enum(["tool", "agent"]),
  reason: z.enum([
    "authored",
    "default",
    "derived",
    "tool-false",
    "disabled-at-path",
    "replaced-at-path",
    "restored-at-path",
    "deferred",
  ]),
  source: z.string(),
});

const nodeSchema = z.object({
  /** `root`, or the path of names below it: `root/reviewer`. */
  id: z.string(),
  name: z.string(),
  description: z.string(),
  /** Module of `agent.ts`; absent on a root without one. */
  source: z.string().optional(),
  /** Text of `instructions.md`, or of a string `instructions.ts`; absent when a module computes it. */
  instructions: z.string().optional(),
  /** Module that default-exports `defineInstructions(...)`. */
  instructionsSource: z.string().optional(),
  /** What `info` shows: a gateway id, or `<provider>/<model>` of an instance. */
  modelId: z.string(),
  sandbox: sandboxSchema.optional(),
  /** Every tool authored for the node, and those of the framework that nothing replaces. */
  tools: z.array(toolSchema),
  /** Registry: every agent the node may call. */
  subagents: z.array(subagentSchema),
  /** Projection: one entry per name decided. */
  composition: z.array(compositionSchema),
});

export const manifestSchema = z.object({
  version: z.literal(MANIFEST_VERSION),
  /** Name of the member: its folder under `agents/`. */
  member: z.string(),
  /** Hash of the sources the bundle was made from. */
  buildId: z.string(),
  nodes: z.array(nodeSchema).min(1),
  /** Variables that must be set when the member starts, sorted. */
  requiredEnv: z.array(z.string()).optional(),
  /** Module of `channels/eve.ts`, when authored. */
  channel: z.string().optional(),
  /** File of the build that runs a command of the embedded shell; absent where the runtime runs from source. */
  shell: z.string().optional(),
});

export type Manifest = z.infer<typeof manifestSchema>;
export type ManifestNode = z.infer<typeof nodeSchema>;
export type ManifestTool = z.infer<typeof toolSchema>;
export type ManifestSubagent = z.infer<typeof subagentSchema>;
export type Composition = z.infer<typeof compositionSchema>;
export type ToolVisibility = z.infer<typeof visibility>;
