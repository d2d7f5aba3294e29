import type { LanguageModel } from "ai";
import { OFFLINE_MODEL, OFFLINE_PROVIDER, offlineModel } from "./offline-model.ts";

export type Environment = Readonly<Record<string, string | undefined>>;

/** A model instance of any version that the AI SDK accepts. */
export type ModelInstance = Exclude<LanguageModel, string>;

export interface ModelFacts {
  /** `anthropic/claude-opus-5.5`, `eve/offline`: what `step.started` and `info` show. */
  readonly modelId: string;
  readonly offline: boolean;
  /** Effort that the agent asks of it; absent: its provider's default. */
  readonly reasoning?: string;
}

export interface ResolvedModel extends ModelFacts {
  readonly model: ModelInstance;
}

/**
 * The model an agent runs with: an instance as it is, a gateway id when there is a credential for the gateway,
 * and the offline model otherwise. Loads `ai` for gateway ids only, since that costs time and memory at start.
 */
export async function resolveModel(model: LanguageModel | undefined, env: Environment): Promise<ResolvedModel> {
  const facts = describeModel(model, env);
  if (typeof model === "object") return { model, ...facts };
  if (model === undefined || facts.offline) return { model: offlineModel(), ...facts };
  const { createGateway, gateway } = await import("ai");
  const apiKey = env["AI_GATEWAY_API_KEY"];
  return { model: (apiKey ? createGateway({ apiKey }) : gateway)(model), ...facts };
}

/** What {@link resolveModel} would choose, without loading anything. */
export function describeModel(model: LanguageModel | undefined, env: Environment): ModelFacts {
  if (typeof model === "object") {
    const modelId = model.modelId.includes("/") ? model.modelId : `${model.provider}/${model.modelId}`;
    return { modelId, offline: modelId === OFFLINE_ID };
  }
  const hasCredential = Boolean(env["AI_GATEWAY_API_KEY"] || env["VERCEL_OIDC_TOKEN"]);
  return model === undefined || !hasCredential
    ? { modelId: OFFLINE_ID, offline: true }
    : { modelId: model, offline: false };
}

const OFFLINE_ID = `${OFFLINE_PROVIDER}/${OFFLINE_MODEL}`;
