import type { Action } from "../protocol/events.ts";
import { inStep, type Draft } from "./draft.ts";
import type { EffectInput, ResolvedCall } from "./input.ts";
import type { ContentPart, HistoryItem } from "./state.ts";
import { answer, callAgent, working } from "./tasks.ts";
import { EMPTY_REPLY_NOTE } from "./text.ts";
import { beginStep, completeTurn, failTurn, holdTurn, isSteered, resumeAfterCalls } from "./turn.ts";

/** Provider calls of one step in all (§19). */
const MAX_PROVIDER_CALLS = 3;

type Responded = Extract<EffectInput, { kind: "model.responded" }>;
type Failed = Extract<EffectInput, { kind: "model.failed" }>;

/** Commits a model's response and starts what it asks for. */
export function modelResponded(draft: Draft, response: Responded): void {
  if (draft.state.turn?.phase !== "model") return;
  const goesOn = response.calls.length > 0 || isHeld(draft);
  commitText(draft, response, goesOn);
  if (response.calls.length > 0) return startCalls(draft, response);
  completeStep(draft, response);
  if (isSteered(draft) || draft.turn.results.length > 0) return beginStep(draft);
  if (working(draft).length > 0) return holdTurn(draft);
  if (response.text.trim() === "" && draft.state.origin.kind !== "root") return emptyReply(draft);
  if (response.finishReason === "length" && draft.state.origin.kind !== "root") return cutOff(draft);
  completeTurn(draft);
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
  draft.emit({
    public: true,
    type: "step.started",
    data: { ...coordinates, modelId: draft.around.modelId, attempt: draft.turn.attempt + 1 },
  });
}

function commitText(draft: Draft, response: Responded, goesOn: boolean): void {
  const { text, reasoning } = response;
  // What a child says before its last word is not its reply, and readers must be able to tell (§6.6).
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
  const calls = withUniqueIds(response.calls, draft.state.history);
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
    }
  }
  resumeAfterCalls(draft);
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

/** Half an answer is no success to a caller that can not tell (§19); a person reads the text and its finish reason. */
function cutOff(draft: Draft): void {
  failTurn(draft, { code: "MODEL_FAILED", message: "The agent's reply was cut off at the output limit of its model." });
}

function isHeld(draft: Draft): boolean {
  return isSteered(draft) || draft.turn.results.length > 0 || working(draft).length > 0;
}

/** Some providers number their calls anew in every response. */
function withUniqueIds(calls: readonly ResolvedCall[], history: readonly HistoryItem[]): readonly ResolvedCall[] {
  const ids = new Set(calls.map(({ callId }) => callId));
  const isKnown = history.some((item) => item.role === "assistant" && item.calls.some(({ callId }) => ids.has(callId)));
  if (!isKnown && ids.size === calls.length) return calls;
  const seen = new Set(
    history.flatMap((item) => (item.role === "assistant" ? item.calls.map(({ callId }) => callId) : [])),
  );
  return calls.map((call) => {
    let callId = call.callId;
    for (let copy = 2; seen.has(callId); copy++) callId = `${call.callId}_${copy}`;
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
    case "refused":
      return { callId, kind: "tool-call", toolName: name, input };
  }
}
