import type {
  LanguageModelV4CallOptions,
  LanguageModelV4FunctionTool,
  LanguageModelV4Message,
  LanguageModelV4Prompt,
  LanguageModelV4ToolResultOutput,
} from "@ai-sdk/provider";
import { AGENT_TOOL_SCHEMA, startedReceipt, taskResultMessage } from "../engine/text.ts";
import { offlineModel } from "./offline-model.ts";

export const NOTICE = "This is the offline model: no model key is set.";
export const agent = (name: string): LanguageModelV4FunctionTool => ({
  type: "function",
  name,
  inputSchema: AGENT_TOOL_SCHEMA as never,
});
export const plain = (name: string, properties: object): LanguageModelV4FunctionTool => ({
  type: "function",
  name,
  inputSchema: { type: "object", properties, required: Object.keys(properties) } as never,
});
export const lookUp = plain("look_up", { query: { type: "string" } });
export const add = plain("add", { a: { type: "number" }, b: { type: "number" } });
export const tools = [agent("research"), agent("reviewer"), lookUp, add];
export const user = (text: string): LanguageModelV4Message => ({ role: "user", content: [{ type: "text", text }] });
export const settled = (taskId: string, text: string, status: "completed" | "failed" | "cancelled" = "completed") =>
  user(taskResultMessage([{ taskId, tool: taskId.slice(0, -7), status, text }]));

export interface Answer {
  readonly text: string;
  readonly calls: readonly { readonly id: string; readonly name: string; readonly input: unknown }[];
  /** What the runtime would append to the history. */
  readonly message: LanguageModelV4Message;
}

export async function ask(
  prompt: LanguageModelV4Prompt,
  options: Partial<LanguageModelV4CallOptions> = { tools },
): Promise<Answer> {
  const { content } = await offlineModel().doGenerate({ prompt, ...options });
  const text = content.map((part) => (part.type === "text" ? part.text : "")).join("");
  const calls = content.flatMap((part) =>
    part.type === "tool-call"
      ? [{ id: part.toolCallId, name: part.toolName, input: JSON.parse(part.input) as unknown }]
      : [],
  );
  const message: LanguageModelV4Message = {
    role: "assistant",
    content: [
      ...(text === "" ? [] : [{ type: "text" as const, text }]),
      ...calls.map(({ id, name, input }) => ({ type: "tool-call" as const, toolCallId: id, toolName: name, input })),
    ],
  };
  return { text, calls, message };
}

/** A call's answer as the runtime gives it: a receipt for an agent, the output for a tool. */
export function answer(step: Answer, at: number, output?: LanguageModelV4ToolResultOutput): LanguageModelV4Message {
  const call = step.calls[at]!;
  const value = startedReceipt(taskIdOf(step, at), call.name);
  return {
    role: "tool",
    content: [
      { type: "tool-result", toolCallId: call.id, toolName: call.name, output: output ?? { type: "text", value } },
    ],
  };
}

export function taskIdOf(step: Answer, at: number): string {
  return `${step.calls[at]!.name}-00000${at}`;
}

export const named = (step: Answer): unknown[] => step.calls.map(({ name, input }) => [name, input]);
