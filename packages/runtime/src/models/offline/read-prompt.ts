import type { LanguageModelV4Message, LanguageModelV4Prompt, LanguageModelV4ToolResultOutput } from "@ai-sdk/provider";
import type { TaskResult } from "../../engine/text.ts";
import { continuedReceipt, startedReceipt, unescapeMarkup, unwrapDelegation } from "../../engine/text.ts";
import { renderOutput } from "./render-output.ts";

/** What became of one call. `lost` is a task that stopped working without a result that the model was shown. */
export interface CallState {
  readonly status: "working" | "completed" | "failed" | "cancelled" | "lost";
  readonly text: string;
}

export interface MadeCall extends CallState {
  readonly callId: string;
  readonly name: string;
  readonly input: unknown;
}

export interface TurnMessage {
  readonly text: string;
  readonly delegated: boolean;
}

/** The part of a prompt that is still to be answered: all that follows the last final reply. */
export interface Turn {
  /** The message that opened the turn, then those that steered it. */
  readonly messages: readonly TurnMessage[];
  readonly calls: readonly MadeCall[];
  /** Results of tasks that no call of this turn started. */
  readonly strays: readonly TaskResult[];
  /** Responses so far that made calls. */
  readonly callSteps: number;
  /** The final reply before this turn, for a message that speaks of it. */
  readonly previousReply: string;
}

type Item =
  | { readonly kind: "message"; readonly message: TurnMessage }
  | { readonly kind: "reply"; readonly text: string }
  | { readonly kind: "calls"; readonly calls: readonly { callId: string; name: string; input: unknown }[] }
  | { readonly kind: "output"; readonly callId: string; readonly output: LanguageModelV4ToolResultOutput }
  | { readonly kind: "taskResult"; readonly result: TaskResult }
  | { readonly kind: "note"; readonly working: ReadonlySet<string> };

export function readTurn(prompt: LanguageModelV4Prompt): Turn {
  const all = prompt.flatMap(toItems);
  const replyAt = all.findLastIndex((item) => item.kind === "reply");
  const reply = all[replyAt];
  const items = all.slice(replyAt + 1);
  const used = new Set<TaskResult>();
  const calls = items.flatMap((item, at) =>
    item.kind !== "calls" ? [] : item.calls.map((call) => ({ ...call, ...stateOf(call, items, at, used) })),
  );
  return {
    messages: items.flatMap((item) => (item.kind === "message" ? [item.message] : [])),
    calls,
    strays: items.flatMap((item) => (item.kind === "taskResult" && !used.has(item.result) ? [item.result] : [])),
    callSteps: items.filter((item) => item.kind === "calls").length,
    previousReply: reply?.kind === "reply" ? reply.text : "",
  };
}

function stateOf(
  call: { readonly callId: string; readonly name: string },
  items: readonly Item[],
  from: number,
  used: Set<TaskResult>,
): CallState {
  const at = items.findIndex((item, index) => index > from && item.kind === "output" && item.callId === call.callId);
  const item = items[at];
  if (item?.kind !== "output") return { status: "lost", text: "" };
  const rendered = renderOutput(item.output);
  if (rendered.failed) return { status: "failed", text: rendered.text };
  const taskId = receiptTaskId(rendered.text, call.name);
  if (taskId === undefined) return { status: "completed", text: rendered.text };

  const after = items.slice(at + 1);
  const settled = after.find((later) => later.kind === "taskResult" && later.result.taskId === taskId);
  if (settled?.kind === "taskResult") {
    used.add(settled.result);
    return settled.result;
  }
  const note = after.findLast((later) => later.kind === "note");
  const working = note?.kind !== "note" || note.working.has(taskId);
  return { status: working ? "working" : "lost", text: "" };
}

function receiptTaskId(text: string, tool: string): string | undefined {
  const taskId = /^Task (\S+) /.exec(text)?.[1];
  if (taskId === undefined) return undefined;
  return text === startedReceipt(taskId, tool) || text === continuedReceipt(taskId) ? taskId : undefined;
}

function toItems(message: LanguageModelV4Message): Item[] {
  switch (message.role) {
    case "system":
      return [];
    case "user":
      return userItems(message.content.flatMap((part) => (part.type === "text" ? [part.text] : [])));
    case "tool":
      return message.content.flatMap((part) =>
        part.type === "tool-result" ? [{ kind: "output", callId: part.toolCallId, output: part.output }] : [],
      );
    case "assistant": {
      const calls = message.content.flatMap((part) =>
        part.type === "tool-call" ? [{ callId: part.toolCallId, name: part.toolName, input: part.input }] : [],
      );
      if (calls.length > 0) return [{ kind: "calls", calls }];
      const text = message.content.map((part) => (part.type === "text" ? part.text : "")).join("");
      return text.trim() === "" ? [] : [{ kind: "reply", text }];
    }
  }
}

const TASK_RESULT =
  /^<task_result id="([^"]*)" tool="([^"]*)" status="(completed|failed|cancelled)">([^<]*)<\/task_result>\s*/;

/** Results and notes come as user messages too; whatever is left is what a person or a parent wrote. */
function userItems(texts: readonly string[]): Item[] {
  const items: Item[] = [];
  const written: string[] = [];
  for (const text of texts) {
    let rest = text;
    for (let match = TASK_RESULT.exec(rest); match !== null; match = TASK_RESULT.exec(rest)) {
      const [block, taskId = "", tool = "", status = "", body = ""] = match;
      const result = { taskId, tool, status: status as TaskResult["status"], text: unescapeMarkup(body) };
      items.push({ kind: "taskResult", result });
      rest = rest.slice(block.length);
    }
    if (rest.startsWith("[Tasks]\n")) items.push({ kind: "note", working: workingIds(rest) });
    else if (rest.trim() !== "") written.push(rest);
  }
  if (written.length > 0 || items.length === 0) {
    const whole = written.join("\n\n");
    const text = unwrapDelegation(whole);
    items.push({ kind: "message", message: { text: text.trim(), delegated: text !== whole } });
  }
  return items;
}

function workingIds(note: string): ReadonlySet<string> {
  const section = /<working>([\s\S]*?)<\/working>/.exec(note)?.[1] ?? "";
  return new Set(Array.from(section.matchAll(/<task id="([^"]*)"/g), (match) => match[1] ?? ""));
}
