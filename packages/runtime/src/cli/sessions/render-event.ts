import { unwrapDelegation } from "../../engine/text.ts";
import type { Action, EventData, StreamEvent } from "../../protocol/events.ts";

/** What an event says to people: a word of what it is, and what. */
export interface Said {
  readonly what: string;
  readonly text: string;
}

/** Several calls of one step are several of these; what only a program needs to know is none. */
export function renderEvent(event: StreamEvent): readonly Said[] {
  switch (event.type) {
    case "session.started":
      return event.data.predecessor === undefined ? [] : [said("fork", forkOf(event.data.predecessor))];
    case "turn.started": {
      const { turnId, retryOf } = event.data;
      return [said("turn", retryOf === undefined ? turnId : `${turnId}, which is ${retryOf} again`)];
    }
    case "message.received":
      return [said("message", [unwrapDelegation(event.data.message), ...event.data.parts.flatMap(toFile)].join("\n"))];
    case "message.completed":
      return event.data.message === "" ? [] : [said("says", event.data.message)];
    case "result.completed":
      return [said("result", toText(event.data.result))];
    case "actions.requested":
      return event.data.actions.map((action) => said("calls", `${nameOf(action)} ${toText(action.input)}`));
    case "action.result": {
      const { result, status } = event.data;
      return [said(status === "failed" ? "failed" : "returns", `${result.toolName} ${toText(result.output)}`)];
    }
    case "step.failed":
      return [said("failed", `model call: ${toFailure(event.data)}`)];
    case "agent.started": {
      const { name, sessionId, remote } = event.data;
      return [said("agent", `${name} ${sessionId}${remote === undefined ? "" : ` at ${remote.url}`}`)];
    }
    case "task.started":
      return [said("task", `${event.data.taskId} started`)];
    case "task.settled":
      return [said("task", toOutcome(event.data))];
    case "turn.completed":
      return [said("turn", `${event.data.turnId} completed`)];
    case "turn.cancelled":
      return [said("turn", `${event.data.turnId} cancelled`)];
    case "turn.failed":
      return [said("failed", `${event.data.turnId}: ${toFailure(event.data)}`)];
    case "compaction.completed":
      return [said("history", "became a summary")];
    case "context.cleared":
      return [said("history", "was forgotten")];
    case "session.completed":
      return [said("ended", event.data.reason ?? "")];
    default:
      return [];
  }
}

function said(what: string, text: string): Said {
  return { what, text };
}

function forkOf({ sessionId, index }: { readonly sessionId: string; readonly index: number }): string {
  return `of ${sessionId} at event ${index}`;
}

function nameOf({ toolName, subagentName, remoteAgentName }: Action): string {
  return toolName ?? subagentName ?? remoteAgentName ?? "";
}

function toFile(part: EventData<"message.received">["parts"][number]): string[] {
  return part.type === "file" ? [`[${part.mediaType}${part.filename === undefined ? "" : ` ${part.filename}`}]`] : [];
}

function toFailure({ code, message }: { readonly code: string; readonly message: string }): string {
  return `${code} ${message}`;
}

function toOutcome({ taskId, status, output, error, cancel }: EventData<"task.settled">): string {
  const why = error?.message ?? cancel?.reason ?? (output === undefined ? undefined : toText(output));
  return `${taskId} ${status}${why === undefined ? "" : `: ${why}`}`;
}

function toText(value: unknown): string {
  return typeof value === "string" ? value : (JSON.stringify(value) ?? "");
}
