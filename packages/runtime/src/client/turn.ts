import {
  isCurrentTurnBoundaryEvent,
  isInputWait,
  isTerminal,
  type InputRequest,
  type MessageStreamEvent,
} from "./events.ts";

/** How a turn ended, or what it waits for. */
export interface MessageResult<TOutput = unknown> {
  /**
   * What is next for the session: `waiting` for a message or an answer, `completed` or `failed` for good. A turn that
   * failed leaves its session waiting: look at `error`.
   */
  readonly status: "waiting" | "completed" | "failed";
  /**
   * The reply. Of a turn that was stopped or failed in the middle of one, what there was of it; `undefined` when
   * nothing was said.
   */
  readonly message: string | undefined;
  /** Structured output, when the turn was asked for it with an `outputSchema`. */
  readonly data: TOutput | undefined;
  /** Why the turn failed. */
  readonly error: { readonly code: string; readonly message: string } | undefined;
  /** Every event of the turn. */
  readonly events: readonly MessageStreamEvent[];
  readonly sessionId: string;
  /** `undefined` when the session ended before it came to the message. */
  readonly turnId: string | undefined;
  /** Questions of this turn that are still open: answer them with `session.respond`. */
  readonly inputRequests: readonly InputRequest[];
}

/** What is kept of one turn while its events pass by. */
export interface TurnProgress {
  /** Takes the next event; true when the caller is up: the turn has ended, or waits for a person. */
  take(event: MessageStreamEvent): boolean;
  result(): Omit<MessageResult, "events" | "sessionId" | "turnId">;
}

export function createTurnProgress(): TurnProgress {
  const requests = new Map<string, InputRequest>();
  const signIns = new Set<string>();
  let status: MessageResult["status"] = "waiting";
  let reply: string | undefined;
  /** Text of the step under way. Each of its attempts begins anew. */
  let said = "";
  let output: unknown;
  let error: MessageResult["error"];

  const note = ({ type, data }: MessageStreamEvent): void => {
    switch (type) {
      case "step.started":
        said = "";
        break;
      case "message.appended":
        said += data.messageDelta;
        break;
      case "message.completed":
        said = "";
        // What is said before the result of a tool or a task is not the reply.
        if (data.finishReason !== "tool-calls") reply = data.message;
        break;
      case "result.completed":
        output = data.result;
        break;
      case "input.requested":
        for (const request of data.requests) requests.set(request.requestId, request);
        break;
      case "input.resolved":
        for (const { requestId } of data.resolutions) requests.delete(requestId);
        break;
      case "authorization.required":
        signIns.add(signInOf(data));
        break;
      case "authorization.completed":
        signIns.delete(signInOf(data));
        break;
      case "turn.failed":
      case "session.failed":
        error = { code: data.code, message: data.message };
        break;
    }
  };

  return {
    take: (event) => {
      note(event);
      if (isTerminal(event)) status = event.type === "session.failed" ? "failed" : "completed";
      // A sign-in goes on elsewhere, and the turn behind it: there is nothing to answer here.
      if (isInputWait(event) && requests.size === 0 && signIns.size > 0) return false;
      return isCurrentTurnBoundaryEvent(event);
    },
    result: () => ({
      status,
      message: said || reply,
      data: output,
      error,
      inputRequests: [...requests.values()],
    }),
  };
}

function signInOf({ attemptId, name }: { readonly attemptId?: string; readonly name: string }): string {
  return attemptId ?? name;
}
