import type { z } from "zod";
import type { Principal } from "../protocol/principal.ts";
import { brand } from "./brand.ts";
import { checkOptions } from "./check-options.ts";
import type { Sandbox } from "./define-sandbox.ts";

/** What a tool knows about the call it serves. */
export interface ToolContext {
  readonly session: {
    readonly id: string;
    /** `current`: who this turn runs as. `initiator`: who opened the session (contract §18.5). */
    readonly auth: { readonly current: Principal; readonly initiator: Principal };
  };
  readonly callId: string;
  readonly toolName: string;
  /** Aborts when the call's work should stop. */
  readonly abortSignal: AbortSignal;
  /**
   * The sandbox of this session, made when it is first asked for (contract §3, §7).
   *
   * @throws AgentError `SANDBOX_FAILED` when its provider does not give it.
   */
  getSandbox(): Promise<Sandbox>;
  /** The same for every run of this call, also after a crash (contract §21). */
  readonly idempotencyKey: string;
}

export interface ToolOptions<Input extends z.ZodType, Output> {
  /** What the tool does; the model reads it. */
  readonly description: string;
  /** Schema of the input. Invalid input is answered to the model as an error and never reaches `execute`. */
  readonly inputSchema: Input;
  /** Runs the call. The output must be JSON-serialisable. */
  readonly execute: (input: z.output<Input>, ctx: ToolContext) => Output | Promise<Output>;
  /**
   * What happens when the process died while the tool ran (contract §21): `"retry"` (default) runs it again with
   * the same `idempotencyKey`, `"fail"` tells the model that the outcome is unknown.
   */
  readonly onInterrupt?: "retry" | "fail";
}

export interface ToolDefinition<Input extends z.ZodType = z.ZodType, Output = unknown> extends ToolOptions<
  Input,
  Output
> {
  readonly onInterrupt: "retry" | "fail";
}

/**
 * Defines the tool of `agent/tools/<name>.ts`; the file name is the tool's name (contract §3).
 *
 * @throws AgentError `CONFIG_INVALID` for an unknown option or one of the wrong type.
 * @example
 * export default defineTool({
 *   description: "Counts the words of a text.",
 *   inputSchema: z.object({ text: z.string() }),
 *   execute: ({ text }) => ({ words: text.split(/\s+/).length }),
 * });
 */
export function defineTool<Input extends z.ZodType, Output>(
  options: ToolOptions<Input, Output>,
): ToolDefinition<Input, Output> {
  checkOptions("defineTool", options, {
    description: "string",
    inputSchema: "schema",
    execute: "function",
    onInterrupt: "interrupt?",
  });
  return brand("tool", { ...options, onInterrupt: options.onInterrupt ?? "retry" });
}
