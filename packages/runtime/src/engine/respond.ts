import type { Action } from "../protocol/events.ts";
import { answer, working } from "./answer.ts";
import { inStep, type Draft } from "./draft.ts";
import { completeTurn, failTurn } from "./end-turn.ts";
import type { EffectInput, ResolvedCall } from "./input.ts";
import type { ContentPart, SessionState } from "./state.ts";
import { isSteered } from "./steering.ts";
import { beginStep, holdTurn, restartStep } from "./step.ts";
import { callAgent, stopTask } from "./tasks.ts";
import { EMPTY_REPLY_NOTE, refusedOutput } from "./text.ts";
import { beginWait, followWaits } from "./wait.ts";

/** Provider calls of one step in all (§19). */
const MAX_PROVIDER_CALLS = 3;
/** Replies of one turn that may miss its output schema. */
const MAX_REFUSALS = 2;

type Responded = Extract<EffectInput, { kind: "model.responded" }>;
type Failed = Extract<EffectInput, { kind: "model.failed" }>;

/** What a response leads to: only a `reply` ends the turn well. */
type Next = "calls" | "step" | "tasks" | "emptyReply" | "cutOff" | "refused" | "reply";

/** The model has begun to answer: a message no longer restarts the step (§16). */
export function modelBegan(draft: Draft): void {
  if (draft.state.turn?.phase !== "model" || draft.turn.spoke) return;
  draft.emit({ public: false, type: "output.began", data: {} });
}

/** Commits a model's response and starts what it asks for. */
export function modelResponded(draft: Draft, response: Responded): void {
  if (draft.state.turn?.phase !== "model") return;
  const next = nextOf(draft, response);
  commitText(draft, response, next);
  if (next === "calls") return startCalls(draft, response);
  const { output } = response;
  if (next === "reply" && output?.valid === true) {
    draft.emit({ public: true, type: "result.completed", data: { ...inStep(draft), result: output.value } });
  }
  completeStep(draft, response);
  switch (next) {
    case "step":
      return beginStep(draft);
    case "tasks":
      return holdTurn(draft);
    case "emptyReply":
      return emptyReply(draft);
    case "cutOff":
      return cutOff(draft);
    case "refused":
      return refuseOutput(draft, response);
    case "reply":
      return completeTurn(draft);
  }
}

function nextOf(draft: Draft, { calls, text, finishReason, output }: Responded): Next {
  const { state, turn } = draft;
  if (calls.length > 0) return "calls";
  if (isSteered(state) || turn.results.length > 0) return "step";
  if (working(draft).length > 0) return "tasks";
  const delegated = state.origin.kind !== "root";
  if (text.trim() === "" && delegated) return "emptyReply";
  if (finishReason === "length" && (delegated || turn.outputSchema !== undefined)) return "cutOff";
  return output?.valid === false ? "refused" : "reply";
}

/** A provider call failed: once more, or the turn fails with its reason. */
export function modelFailed(draft: Draft, failure: Failed): void {
  if (draft.state.turn?.phase !== "model") return;
  const { code, message, details, usage, retryAfterMs } = failure;
  const coordinates = inStep(draft);
  const last = !failure.retryable || draft.turn.failures + 1 >= MAX_PROVIDER_CALLS;
  draft.emit({
    public: true,
    type: "step.failed",
    data: { ...coordinates, code, message, ...(details && { details }), ...(usage && { usage }) },
    ...(retryAfterMs === undefined ? {} : { inner: { retryAfterMs } }),
  });
  if (last) return failTurn(draft, { code, message });
  restartStep(draft);
}

function commitText(draft: Draft, response: Responded, next: Next): void {
  const { text, reasoning } = response;
  // What a child says before its last word is not its reply, and readers must be able to tell (§6.6).
  const goesOn = next !== "reply" && next !== "cutOff";
  const finishReason = goesOn && draft.state.origin.kind !== "root" ? "tool-calls" : response.finishReason;
  if (reasoning !== "") {
    draft.emit({
      public: true,
      type: "reasoning.completed",
      data: { ...inStep(draft), reasoning, finishReason },
    });
  }
  if (text !== "") {
    draft.emit({
      public: true,
      type: "message.completed",
      data: { ...inStep(draft), message: text, finishReason },
      ...(response.calls.length > 0 ? {} : innerOf(response)),
    });
  }
}

function startCalls(draft: Draft, response: Responded): void {
  const calls = withUniqueIds(response.calls, draft.state);
  draft.emit({
    public: true,
    type: "actions.requested",
    data: { ...inStep(draft), actions: calls.map(toAction) },
    ...innerOf(response),
  });
  completeStep(draft, response);
  for (const call of calls) {
    const { callId, name, input, target } = call;
    switch (target.kind) {
      case "tool": {
        const { stepIndex } = draft.turn;
        const pending = { callId, toolName: name, input, stepIndex, onInterrupt: target.onInterrupt };
        draft.emit({ public: false, type: "call.requested", data: { call: pending } });
        break;
      }
      case "refused":
        answer(draft, call, "failed", target.message);
        break;
      case "local":
      case "remote":
        callAgent(draft, { ...call, target });
        break;
      case "stop":
        stopTask(draft, { ...call, target });
        break;
      case "wait":
        beginWait(draft, { ...call, target });
    }
  }
  followWaits(draft);
}

/** Nothing for most responses: their text and calls are all there is, and the log holds those already. */
function innerOf({ content }: Responded): { inner?: { readonly content: readonly ContentPart[] } } {
  return content === undefined ? {} : { inner: { content } };
}

function completeStep(draft: Draft, { finishReason, usage }: Responded): void {
  draft.emit({
    public: true,
    type: "step.completed",
    data: { ...inStep(draft), finishReason, usage },
  });
}

/** An empty reply is no reply: asked for once more, then the turn fails (§19). */
function emptyReply(draft: Draft): void {
  if (draft.turn.reissued !== undefined) {
    return failTurn(draft, { code: "EMPTY_REPLY", message: "The agent ended its turn without a reply." });
  }
  draft.emit({ public: false, type: "reply.reissued", data: { text: EMPTY_REPLY_NOTE } });
  beginStep(draft);
}

/** Who asked for structured output gets that or a failure: the model is told what is wrong, and asked again. */
function refuseOutput(draft: Draft, { output }: Responded): void {
  if (output?.valid !== false) return;
  const { problem } = output;
  if (draft.turn.refusals >= MAX_REFUSALS) {
    return failTurn(draft, {
      code: "OUTPUT_INVALID",
      message: `The reply does not fit the output schema: ${problem}.`,
    });
  }
  draft.emit({ public: false, type: "output.refused", data: { text: refusedOutput(problem) } });
  beginStep(draft);
}

/**
 * Half an answer is no success to a caller that can not tell (§19): another agent, or whoever asked for structured
 * output. A person reads the text and its finish reason.
 */
function cutOff(draft: Draft): void {
  failTurn(draft, { code: "MODEL_FAILED", message: "The agent's reply was cut off at the output limit of its model." });
}

/** Some providers number their calls anew in every response. Ids that were forgotten with a history had another end. */
function withUniqueIds(
  calls: readonly ResolvedCall[],
  { history, compactions }: SessionState,
): readonly ResolvedCall[] {
  const ids = new Set(calls.map(({ callId }) => callId));
  const isKnown = history.some((item) => item.role === "assistant" && item.calls.some(({ callId }) => ids.has(callId)));
  if (!isKnown && ids.size === calls.length && compactions === 0) return calls;
  const seen = new Set(
    history.flatMap((item) => (item.role === "assistant" ? item.calls.map(({ callId }) => callId) : [])),
  );
  return calls.map((call) => {
    const given = compactions === 0 ? call.callId : `${call.callId}_c${compactions}`;
    let callId = given;
    for (let copy = 2; seen.has(callId); copy++) callId = `${given}_${copy}`;
    seen.add(callId);
    return { ...call, callId };
  });
}

function toAction({ callId, name, input, target }: ResolvedCall): Action {
  switch (target.kind) {
    case "local": {
      const { nodeId, description } = target;
      return { callId, kind: "subagent-call", subagentName: name, nodeId, description, input };
    }
    case "remote": {
      const { description } = target;
      return { callId, kind: "remote-agent-call", remoteAgentName: name, description, input };
    }
    case "tool":
    case "wait":
    case "stop":
    case "refused":
      return { callId, kind: "tool-call", toolName: name, input };
  }
}
