import type { LanguageModel } from "ai";
import { AgentError } from "../errors.ts";
import type { ToolVisibility } from "../protocol/manifest.ts";
import { brand } from "./brand.ts";
import { checkOptions } from "./check-options.ts";
import { checkModelOptions, type ModelOptions, type Reasoning } from "./model-options.ts";

/** How far a session of an agent may go. */
export interface AgentLimits {
  /**
   * Milliseconds after which a session ends, with the turn that is under way then (contract §16). `false`: never.
   * Default: 30 days; of a subagent, what its root says.
   */
  readonly sessionTimeoutMs?: number | false;
  /** Milliseconds that one call of an agent may take (contract §6.11). Its task can be continued afterwards. */
  readonly taskTimeoutMs?: number;
  /** Milliseconds that the agent of a call may show no event (contract §6.11). */
  readonly taskSilenceMs?: number;
}

export interface AgentOptions {
  /** What the agent is for. Required in a subagent and in a member that peers call without their own text. */
  readonly description?: string;
  /**
   * A gateway id (`"anthropic/claude-opus-5.5"`) or any AI SDK language model. Without one, and whenever a
   * gateway id has no credential to go with it, the agent answers with the embedded offline model.
   */
  readonly model?: LanguageModel;
  /** Tokens that the model can read. Default 128,000: say so when yours is smaller, or reads more. */
  readonly modelContextWindowTokens?: number;
  /** When a long history is replaced by a summary of it (contract §16); `false`: never by itself. */
  readonly compaction?: CompactionOptions | false;
  /** How much the model thinks before it answers; without it, as its provider does by default. */
  readonly reasoning?: Reasoning;
  /** What the model is called with besides its prompt. */
  readonly modelOptions?: ModelOptions;
  /** Whether the parent's model sees this agent as a tool (contract §4). Default `true`. */
  readonly tool?: ToolVisibility;
  /**
   * Names of environment variables without which the agent can not work. A member does not start while one of its
   * agents misses one; a build only warns, because it needs no secrets.
   */
  readonly requiredEnv?: readonly string[];
  readonly limits?: AgentLimits;
}

export interface CompactionOptions {
  /** Share of the model's context window from which on the history is replaced by a summary. Default 0.9. */
  readonly thresholdPercent?: number;
}

export interface AgentDefinition extends AgentOptions {
  readonly tool: ToolVisibility;
}

/**
 * Defines the agent of `agent/agent.ts` or `agent/subagents/<id>/agent.ts` (contract §3).
 *
 * @throws AgentError `CONFIG_INVALID` for an unknown option or one of the wrong type.
 * @example
 * export default defineAgent({ description: "Reviews texts.", model: "anthropic/claude-opus-5.5" });
 */
export function defineAgent(options: AgentOptions): AgentDefinition {
  refuseBatching(options);
  checkOptions("defineAgent", options, {
    description: "string?",
    model: "model?",
    modelContextWindowTokens: "tokens?",
    compaction: "compaction?",
    reasoning: "reasoning?",
    modelOptions: "object?",
    tool: "visibility?",
    requiredEnv: "variables?",
    limits: "object?",
  });
  if (options.modelOptions !== undefined) checkModelOptions(options.modelOptions, options.model);
  if (options.limits !== undefined) {
    checkOptions("defineAgent limits", options.limits, {
      sessionTimeoutMs: "timeout?",
      taskTimeoutMs: "duration?",
      taskSilenceMs: "duration?",
    });
  }
  const limits = options.limits === undefined ? {} : { limits: Object.freeze({ ...options.limits }) };
  return brand("agent", { ...options, ...limits, tool: options.tool ?? true });
}

/** Known from eve: whoever brings it along gets to know why there is nothing to gain by it (contract §19). */
function refuseBatching(options: unknown): void {
  const { experimental } = (options ?? {}) as { experimental?: { workflow?: { modelCallsPerStep?: unknown } } };
  if (experimental?.workflow?.modelCallsPerStep === undefined) return;
  throw new AgentError(
    "CONFIG_INVALID",
    'defineAgent takes no "experimental.workflow.modelCallsPerStep": a commit costs about 0.06 ms here, ' +
      "and with fewer of them model calls and tools that were done would run again after a crash.",
    { fix: "Remove it: every step is kept once it is done.", data: { option: "experimental" } },
  );
}
