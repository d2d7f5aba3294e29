import type { Action } from "../protocol/events.ts";
import { inStep, type Draft } from "./draft.ts";
import type { EffectInput, ResolvedCall } from "./input.ts";
import type { SessionState } from "./state.ts";
import { isSteered } from "./steering.ts";
import { answer, callAgent, working } from "./tasks.ts";
import { EMPTY_REPLY_NOTE, refusedOutput } from "./text.ts";
import { beginStep, completeTurn, failTurn, holdTurn, restartStep, resumeAfterCalls } from "./turn.ts";

/** Provider calls of one step in all (§19). */
const MAX_PROVIDER_CALLS = 3;
/** Replies of one turn that may miss its output schema. */
const MAX_REFUSALS = 2;

type Responded = Extract<EffectInput, { kind: "model.responded" }>;
type Failed = Extract<EffectInput, { kind: "model.failed" }>;

/** Commits a model's response and starts what it asks for. */
export function modelResponded(draft: Draft, response: Responded): void {
  if (draft.state.turn?.phase !== "model") return;
  const goesOn = response.calls.length > 0 || isHeld(draft);
  commitText(draft, response, goesOn);
  if (response.calls.length > 0) return startCalls(draft, response);
  const { output } = response;
  if (output?.valid === true && !goesOn) {
    draft.emit({ public: true, type: "result.completed", data: { ...inStep(draft), result: output.value } });
  }
  completeStep(draft, response);
  if (isSteered(draft.state) || draft.turn.results.length > 0) return beginStep(draft);
  if (working(draft).length > 0) return holdTurn(draft);
  if (output?.valid === false) return refuseOutput(draft, output.problem);
  if (response.text.trim() === "" && draft.state.origin.kind !== "root") return emptyReply(draft);
  if (response.finishReason === "length" && draft.state.origin.kind !== "root") return cutOff(draft);
  completeTurn(draft);
}

/** A provider call failed: once more, or the turn fails with its reason. */
export function modelFailed(draft: Draft, failure: Failed): void {
  if (draft.state.turn?.phase !== "model") return;
  const { code, message } = failure;
  const coordinates = inStep(draft);
  const last = !failure.retryable || draft.turn.failures + 1 >= MAX_PROVIDER_CALLS;
  draft.emit({ public: true, type: "step.failed", data: { ...coordinates, code, message } });
  if (last) return failTurn(draft, { code, message });
  restartStep(draft);
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
    });
  }
}

function startCalls(draft: Draft, response: Responded): void {
  const calls = withUniqueIds(response.calls, draft.state);
  draft.emit({
    public: true,
    type: "actions.requested",
    data: { ...inStep(draft), actions: calls.map(toAction) },
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
function refuseOutput(draft: Draft, problem: string): void {
  if (draft.turn.refusals >= MAX_REFUSALS) {
    return failTurn(draft, {
      code: "OUTPUT_INVALID",
      message: `The reply does not fit the output schema: ${problem}.`,
    });
  }
  draft.emit({ public: false, type: "output.refused", data: { text: refusedOutput(problem) } });
  beginStep(draft);
}

/** Half an answer is no success to a caller that can not tell (§19); a person reads the text and its finish reason. */
function cutOff(draft: Draft): void {
  failTurn(draft, { code: "MODEL_FAILED", message: "The agent's reply was cut off at the output limit of its model." });
}

function isHeld(draft: Draft): boolean {
  return isSteered(draft.state) || draft.turn.results.length > 0 || working(draft).length > 0;
}

/** Some providers number their calls anew in every response. Ids that were forgotten with a history had another end. */
function withUniqueIds(calls: readonly ResolvedCall[], { history, compactions }: SessionState): ResolvedCall[] {
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
    case "refused":
      return { callId, kind: "tool-call", toolName: name, input };
  }
}
