import type { ToolSet } from "ai";
import type { ModelOptions } from "../define/model-options.ts";
import type { HistoryItem, JsonSchema } from "../engine/state.ts";
import { markPrompt, providerDefaults } from "../models/provider-defaults.ts";
import type { ModelInstance } from "../models/resolve-model.ts";
import type { ProjectedTool } from "../registry/projection.ts";
import type { RegisteredNode } from "../registry/registry.ts";
import { draftPrompt } from "./to-prompt.ts";

type Ai = typeof import("ai");

/** What an agent's model is called with for a history: the same from step to step but for what the history adds. */
export function prepareCall(
  ai: Ai,
  node: RegisteredNode,
  model: ModelInstance,
  tools: ReadonlyMap<string, ProjectedTool>,
  session: {
    readonly sessionId: string;
    readonly history: readonly HistoryItem[];
    readonly outputSchema?: JsonSchema | undefined;
  },
) {
  const { promptCache, providerOptions, timeout: _, stopSequences, ...settings } = node.modelOptions ?? {};
  const { provider, modelId } = model;
  const { sessionId, history, outputSchema } = session;
  const defaults = providerDefaults({ provider, modelId, sessionId }, promptCache);
  const { messages, complete } = draftPrompt(history);
  return {
    model: ai.wrapLanguageModel({
      model,
      middleware: {
        specificationVersion: "v4",
        transformParams: async ({ params }) => {
          const prompt = complete(params.prompt);
          return {
            ...params,
            prompt: defaults.mark === undefined ? prompt : markPrompt(prompt, defaults.mark),
            ...(outputSchema && { responseFormat: { type: "json", schema: outputSchema } }),
          };
        },
      },
    }),
    ...(node.instructions === undefined ? {} : { instructions: node.instructions }),
    messages,
    ...(tools.size === 0 ? {} : { tools: toToolSet(ai, tools) }),
    ...settings,
    ...(node.reasoning && { reasoning: node.reasoning }),
    ...(stopSequences && { stopSequences: [...stopSequences] }),
    ...merge(defaults.providerOptions, providerOptions),
  };
}

type ProviderOptions = NonNullable<ModelOptions["providerOptions"]>;

/** What the author says of a provider goes before what is its default here. */
function merge(defaults: ProviderOptions, authored: ProviderOptions = {}): { providerOptions?: ProviderOptions } {
  const providers = [...new Set([...Object.keys(defaults), ...Object.keys(authored)])];
  if (providers.length === 0) return {};
  return {
    providerOptions: Object.fromEntries(providers.map((name) => [name, { ...defaults[name], ...authored[name] }])),
  };
}

function toToolSet({ jsonSchema, tool }: Ai, tools: ReadonlyMap<string, ProjectedTool>): ToolSet {
  const set: ToolSet = {};
  for (const { name, description, inputSchema } of tools.values()) {
    set[name] = tool({ description, inputSchema: jsonSchema(inputSchema) });
  }
  return set;
}
