import { z } from "zod";
import { kindOf } from "../../define/index.ts";
import type {
  AgentDefinition,
  RemoteAgentDefinition,
  SandboxDefinition,
  ToolDefinition,
  WorkspaceAgentDefinition,
} from "../../define/index.ts";
import { messageOf } from "../../errors.ts";
import type { DefinitionSummary } from "./evaluation.ts";

/** Reduces the default export of an authored module to what the manifest needs. */
export function summarize(value: unknown): DefinitionSummary {
  if (typeof value === "string") return { kind: "text", text: value };
  const kind = kindOf(value);
  switch (kind) {
    case "agent": {
      const { description, model, tool, requiredEnv } = value as AgentDefinition;
      return {
        kind,
        ...(description !== undefined && { description }),
        modelId: toModelId(model),
        tool,
        ...(requiredEnv !== undefined && { requiredEnv }),
      };
    }
    case "tool": {
      const { description, inputSchema, onInterrupt } = value as ToolDefinition;
      return { kind, description, inputSchema: toJsonSchema(inputSchema), onInterrupt };
    }
    case "remote-agent": {
      const { description, tool } = value as RemoteAgentDefinition;
      return { kind, description, tool };
    }
    case "workspace-agent": {
      const { name, description, tool } = value as WorkspaceAgentDefinition;
      return { kind, peer: name, ...(description !== undefined && { description }), tool };
    }
    case "sandbox": {
      const { provider } = value as SandboxDefinition;
      return { kind, ...(provider !== undefined && { provider: provider.name }) };
    }
    case "disabled-tool":
    case "root-agent":
    case "instructions":
    case "channel":
      return { kind };
    case undefined:
      return { kind: "unknown", found: nameOf(value) };
  }
}

function toModelId(model: AgentDefinition["model"]): string {
  if (model === undefined) return "eve/offline";
  return typeof model === "string" ? model : `${model.provider}/${model.modelId}`;
}

function toJsonSchema(schema: z.ZodType): Record<string, unknown> | string {
  try {
    const json = z.toJSONSchema(schema, { io: "input" });
    return json.type === "object" ? { ...json } : `it describes ${json.type ?? "something else"}, not one object`;
  } catch (error) {
    return messageOf(error);
  }
}

function nameOf(value: unknown): string {
  if (value === null || value === undefined) return String(value);
  if (typeof value === "function") return "a function";
  if (Array.isArray(value)) return "an array";
  if (value instanceof Promise) return "a promise";
  return typeof value === "object" ? "a plain object" : `a ${typeof value}`;
}
