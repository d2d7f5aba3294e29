/**
 * Every sentence the engine writes for a model to read, in one place (contract §5, §6, §7).
 */

/** Agent tools take one message and, to continue a task, its id (§5.1). */
export const AGENT_TOOL_SCHEMA: Readonly<Record<string, unknown>> = {
  type: "object",
  properties: {
    message: {
      type: "string",
      description: "Everything the agent needs to know. It does not see this conversation.",
    },
    taskId: {
      type: "string",
      description: "Id of an earlier task of this agent that the message continues. Leave out to start anew.",
    },
  },
  required: ["message"],
  additionalProperties: false,
};

/** §5.2 */
export function agentToolDescription(description: string): string {
  return `${description.trim()}\n\nThe agent does not see this conversation, so put all it needs into \`message\`; pass the \`taskId\` of one of its tasks to continue that task.`;
}

/** What a root without a description says of its copy (§5.2). */
export const COPY_DESCRIPTION =
  "A copy of yourself with your instructions and tools, which starts with an empty conversation. Hand it a part of the work that stands by itself.";

const DELEGATION_HEADER =
  "Another agent hands you the task below. You see nothing of its conversation, and your final reply of this turn is what it gets back.";

/** The one wrapper around a message that starts or continues a child (§5.4). */
export function wrapDelegation(message: string): string {
  return `${DELEGATION_HEADER}\n\n${message}`;
}

/** The message inside {@link wrapDelegation}, or the text itself when it was never wrapped. */
export function unwrapDelegation(text: string): string {
  return text.startsWith(DELEGATION_HEADER) ? text.slice(DELEGATION_HEADER.length).trimStart() : text;
}

/** Receipt of a call that started a task (§5.3). */
export function startedReceipt(taskId: string, tool: string): string {
  return `Task ${taskId} is at work; its result comes later, in a <task_result> block. To send it another message, call ${tool} with taskId "${taskId}".`;
}

/** Receipt of a call that reached a task while it works (§6.3). */
export function joinedReceipt(taskId: string): string {
  return `Task ${taskId} is still at work and reads this, too; one reply answers both messages, in a <task_result> block.`;
}

/** Receipt of a call that reached an idle task by its id. */
export function continuedReceipt(taskId: string): string {
  return `Task ${taskId} has the message; its reply comes later, in a <task_result> block.`;
}

/** Follows an empty reply of a child, once (§19). */
export const EMPTY_REPLY_NOTE =
  "Your last reply was empty. Whoever gave you the task receives only your final reply: write it now.";

export function unknownTask(taskId: string, tool: string): string {
  return `UNKNOWN_TASK: ${tool} has no open task "${taskId}". Leave taskId out to start a new one.`;
}

export function tooManyTasks(limit: number): string {
  return `TOO_MANY_TASKS: ${limit} tasks are at work, the most a session may have. Wait for one to finish, then call again.`;
}

/** Answers of `eve__task_cancel` (§6.8). */
export function stoppedTask(taskId: string): string {
  return `Task ${taskId} was stopped; what it was asked last has no reply. Its conversation is kept: call its tool with this taskId to go on.`;
}

export function nothingToStop(taskId: string): string {
  return `UNKNOWN_TASK: this session has no task "${taskId}". The [Tasks] note lists those at work.`;
}

export function idleTask(taskId: string): string {
  return `Task ${taskId} has nothing under way, so there was nothing to stop.`;
}

export type WaitEnd = "result" | "message" | "idle" | "time";

/** Answers of `eve__task_wait` (§6.8). */
export function waitEnded(end: WaitEnd): string {
  switch (end) {
    case "result":
      return "A task has a result: it follows.";
    case "message":
      return "A message has come meanwhile: it follows. The tasks are still at work.";
    case "idle":
      return "No task is at work.";
    case "time":
      return "The time is up, and no task has a result yet.";
  }
}

/** Why a call of an agent ended without a reply (§6.11). */
export function overdueText(code: "TASK_TIMEOUT" | "TASK_SILENT", taskId: string): string {
  const why = code === "TASK_TIMEOUT" ? "had no reply in the time it had" : "showed no sign of work for too long";
  return `${code}: task ${taskId} ${why}, and was stopped. Its conversation is kept: call its tool with this taskId to go on.`;
}

export const TASK_WAIT_TOOL = "eve__task_wait";
export const TASK_CANCEL_TOOL = "eve__task_cancel";

export const TASK_WAIT_DESCRIPTION =
  "Waits until one of your tasks has a result, a message comes, or the time is up. Results also come by themselves when you end your turn; call this only when you need one before you go on.";

/** A day. */
export const MAX_WAIT_SECONDS = 86_400;

export const TASK_WAIT_SCHEMA: Readonly<Record<string, unknown>> = {
  type: "object",
  properties: {
    timeoutSeconds: {
      type: "number",
      exclusiveMinimum: 0,
      maximum: MAX_WAIT_SECONDS,
      description: "How long to wait at most.",
    },
  },
  additionalProperties: false,
};

export const TASK_CANCEL_DESCRIPTION =
  "Stops what a task is doing now. Its conversation is kept, so that it can be continued by its id.";

export const TASK_CANCEL_SCHEMA: Readonly<Record<string, unknown>> = {
  type: "object",
  properties: { taskId: { type: "string", description: "Id of the task." } },
  required: ["taskId"],
  additionalProperties: false,
};

export function unknownTool(name: string): string {
  return `UNKNOWN_TOOL: there is no tool "${name}" here.`;
}

export function invalidInput(name: string, problem: string): string {
  return `INVALID_INPUT: ${name} was not called: ${problem}. Correct the input and call it again.`;
}

export function interruptedTool(name: string): string {
  return `TOOL_INTERRUPTED: the process stopped while ${name} ran, so nobody knows whether it took effect. Find out before you call it again.`;
}

export function abandonedTool(name: string, runs: number): string {
  return `TOOL_INTERRUPTED: the process stopped each of the ${runs} times that ${name} ran, so it is not run again. It may have taken effect. Find out before you call it again.`;
}

/** A call that the sender's next message stopped (§16). */
export function steeredTool(name: string): string {
  return `TOOL_STOPPED: ${name} was stopped because another message came. It may have taken effect in part.`;
}

/** Asks again for a reply that did not fit the schema of its turn. */
export function refusedOutput(problem: string): string {
  return `Your last reply was not what was asked for: ${problem}. Reply again, with nothing but JSON that fits the schema.`;
}

/** Ends the prompt whose answer takes the place of the history before it. */
export const COMPACTION_PROMPT =
  "This conversation has become too long to go on with. Write what you need to continue it without reading it again: what was asked for and what was decided, what is done and what is left, every name, number, path and quotation that still matters, and the wishes of the people in it. Write only that, as notes to yourself.";

/** What a shortened history begins with. */
export function compactedHistory(summary: string): string {
  return `The conversation before this was replaced by your notes on it:\n\n${withoutMarkup(summary)}`;
}

export function failedTool(message: string): string {
  return `TOOL_FAILED: ${message}`;
}

/** Stands in for a file of a turn that failed before the model answered. */
export function droppedFile(name: string): string {
  return `[The file ${name} was left out: the turn that it came with failed.]`;
}

/** Stands in for the result of a call that was stopped. */
export const CANCELLED_CALL = "Cancelled before it had a result.";

export const RESULT_BUDGET: { readonly bytes: number; readonly lines: number } = { bytes: 50 * 1024, lines: 2_000 };

export interface TaskResult {
  readonly taskId: string;
  readonly tool: string;
  readonly status: "completed" | "failed" | "cancelled";
  readonly text: string;
}

/** All results of one task message; together they share {@link RESULT_BUDGET} (§6.7). */
export function taskResultMessage(results: readonly TaskResult[]): string {
  let bytes = RESULT_BUDGET.bytes;
  let lines = RESULT_BUDGET.lines;
  const blocks: string[] = [];
  for (const result of results) {
    const full = escapeMarkup(result.text);
    const body = clip(full, bytes, lines);
    bytes -= utf8Length(body);
    lines -= countLines(body);
    const shown = body.length < full.length ? `${body}[truncated]` : body;
    blocks.push(
      `<task_result id="${result.taskId}" tool="${result.tool}" status="${result.status}">${shown}</task_result>`,
    );
  }
  return blocks.join("\n");
}

/** What the note of a session's tasks begins with. */
export const TASKS_NOTE = "[Tasks]";

export interface TaskLine {
  readonly taskId: string;
  readonly tool: string;
}

/** The note that lists the tasks of a session (§6.9). */
export function tasksNote(working: readonly TaskLine[], idle: readonly TaskLine[]): string {
  const line = (task: TaskLine): string => `<task id="${task.taskId}" tool="${task.tool}"/>`;
  const section = (tag: string, tasks: readonly TaskLine[]): string[] =>
    tasks.length === 0 ? [] : [`<${tag}>`, ...tasks.map(line), `</${tag}>`];
  const body = [...section("working", working), ...section("idle", idle)];
  return [TASKS_NOTE, ...(body.length === 0 ? ["No task is working or idle."] : body)].join("\n");
}

/** Undoes {@link taskResultMessage}'s escaping. */
export function unescapeMarkup(text: string): string {
  return text.replaceAll("&lt;", "<").replaceAll("[\u200bTasks]", TASKS_NOTE).replaceAll("&amp;", "&");
}

/** Keeps a child's words from closing their block, opening another, or posing as a note. */
function escapeMarkup(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(TASKS_NOTE, "[\u200bTasks]");
}

/** Keeps notes that quote a block or a note from being one; all else of them stays as the model wrote it. */
function withoutMarkup(text: string): string {
  return text.replaceAll(/<(?=\/?task_result)/g, "&lt;").replaceAll(TASKS_NOTE, "[\u200bTasks]");
}

function clip(text: string, bytes: number, lines: number): string {
  let kept = text;
  if (countLines(kept) > lines) kept = kept.split("\n").slice(0, Math.max(lines, 0)).join("\n");
  if (utf8Length(kept) <= bytes) return kept;
  let length = 0;
  let end = 0;
  for (const character of kept) {
    length += utf8Length(character);
    if (length > bytes) break;
    end += character.length;
  }
  return kept.slice(0, end);
}

function countLines(text: string): number {
  return text === "" ? 0 : text.split("\n").length;
}

/** Bytes of a text in UTF-8, without `TextEncoder`: the engine also runs in a bare context. */
function utf8Length(text: string): number {
  let length = 0;
  for (const character of text) {
    const code = character.codePointAt(0)!;
    length += code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
  }
  return length;
}
