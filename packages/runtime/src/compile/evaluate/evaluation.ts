import type { ToolVisibility } from "../../protocol/manifest.ts";

/** What the build needs to know of one definition; all of it survives JSON. */
export type DefinitionSummary =
  | {
      readonly kind: "agent";
      readonly description?: string;
      readonly modelId: string;
      readonly tool: ToolVisibility;
      readonly requiredEnv?: readonly string[];
    }
  | {
      readonly kind: "tool";
      readonly description: string;
      /** JSON Schema, or why there is none. */
      readonly inputSchema: Readonly<Record<string, unknown>> | string;
      readonly onInterrupt: string;
    }
  | { readonly kind: "disabled-tool" }
  | { readonly kind: "root-agent" }
  | { readonly kind: "remote-agent"; readonly description: string; readonly tool: ToolVisibility }
  | {
      readonly kind: "workspace-agent";
      readonly peer: string;
      readonly description?: string;
      readonly tool: ToolVisibility;
    }
  | { readonly kind: "instructions" }
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "channel" }
  /** `provider`: its name, when it is another one than the embedded shell. */
  | { readonly kind: "sandbox"; readonly provider?: string }
  /** Not a definition; `found` says what it is instead. */
  | { readonly kind: "unknown"; readonly found: string };

/** What became of loading one module. */
export type Outcome =
  | { readonly status: "loaded"; readonly definition: DefinitionSummary }
  | { readonly status: "no-default"; readonly names: readonly string[] }
  | {
      readonly status: "threw";
      readonly message: string;
      readonly stack?: string;
      /** Of an `AgentError`. */
      readonly fix?: string;
      readonly option?: string;
    }
  | { readonly status: "timeout" };

export interface EvaluateRequest {
  /** Absolute path of a bundle's `loaders.mjs`. */
  readonly file: string;
  readonly sources: readonly string[];
  readonly timeoutMs: number;
}

export type EvaluateMessage =
  | { readonly type: "started"; readonly source: string }
  | { readonly type: "settled"; readonly source: string; readonly outcome: Outcome }
  | { readonly type: "done" };
