import { expect, test } from "vitest";
import { advance } from "./advance.ts";
import { decide } from "./decide.ts";
import type { Entry } from "./entry.ts";
import { reduce } from "./reduce.ts";
import { ADA, says, USAGE } from "./session.fixture.ts";
import type { SessionState } from "./state.ts";
import { droppedFile } from "./text.ts";

const NONE = { inputTokens: 0, outputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0 };
const file = { type: "file", mediaType: "image/png", url: "https://example.com/a.png" };
const turn = (sequence: number) => ({ turnId: `turn_${sequence}`, sequence });
const step = (sequence: number, stepIndex: number) => ({ ...turn(sequence), stepIndex });
const fact = (type: string, data: object) => ({ public: false, type, data });
const event = (type: string, data: object, inner?: object) => ({ public: true, type, data, ...(inner && { inner }) });
const queued = (deliveryId: string, parts: readonly object[]) =>
  fact("delivery.queued", { delivery: { deliveryId, parts, principal: ADA, policy: "steer" } });
const text = (said: string) => [{ type: "text", text: said }];

/** A log as the version before steering, summaries and retries wrote it: none of what they added is in its entries. */
const LOG = [
  fact("session.opened", {
    sessionId: "ses_1",
    nodeId: "root",
    agentName: "test",
    origin: { kind: "root" },
    initiator: ADA,
  }),
  queued("d1", [...text("look"), file]),
  event("session.started", { runtime: { agentId: "root", agentName: "test", eveVersion: "0.0.0" } }),
  event("turn.started", turn(0), { principal: ADA }),
  event("message.received", { ...turn(0), message: "look", parts: [...text("look"), file] }, { deliveryIds: ["d1"] }),
  event("step.started", { ...step(0, 0), modelId: "m", attempt: 1 }),
  event("step.failed", { ...step(0, 0), code: "MODEL_FAILED", message: "overloaded" }),
  event("turn.failed", { ...turn(0), code: "MODEL_FAILED", message: "overloaded" }),
  event("session.waiting", { wait: "next-user-message", usage: NONE, continuationToken: "ses_1" }),
  queued("d2", text("again")),
  event("turn.started", turn(1), { principal: ADA }),
  event("message.received", { ...turn(1), message: "again", parts: text("again") }, { deliveryIds: ["d2"] }),
  event("step.started", { ...step(1, 0), modelId: "m", attempt: 1 }),
  event("actions.requested", {
    ...step(1, 0),
    actions: [{ callId: "t1", kind: "tool-call", toolName: "add", input: { a: 1 } }],
  }),
  event("step.completed", { ...step(1, 0), finishReason: "tool-calls", usage: USAGE }),
  fact("call.requested", {
    call: { callId: "t1", toolName: "add", input: { a: 1 }, stepIndex: 0, onInterrupt: "retry" },
  }),
  event("action.result", {
    ...step(1, 0),
    result: { callId: "t1", kind: "tool-result", toolName: "add", output: "3" },
    status: "completed",
  }),
  event("step.started", { ...step(1, 1), modelId: "m", attempt: 1 }),
  queued("d3", text("quick")),
] as readonly Entry[];

const fold = (entries: readonly Entry[]): SessionState => entries.reduce<SessionState | undefined>(reduce, undefined)!;

const AROUND = {
  sessionId: "ses_1",
  modelId: "m",
  eveVersion: "0",
  now: 0,
  base: "/b",
  newSessionId: () => "child",
  random: () => "000000",
};

test("§19 a session that an earlier version left in a step is taken up, with the message that waited for its end", () => {
  const left = fold(LOG);
  const [call] = decide(left);
  expect(call?.id).toBe("model:turn_1:1:1");
  const resumed = advance(left, { kind: "effect.interrupted", effectId: call!.id }, AROUND);
  expect(resumed.entries.map(({ type }) => type)).toEqual(["message.received", "step.started"]);
  expect(resumed.state?.history).toMatchObject([
    { role: "user", parts: [...text("look"), { type: "text", text: droppedFile("image/png") }] },
    { role: "user", parts: text("again") },
    { role: "assistant", calls: [{ callId: "t1" }] },
    { role: "tool", callId: "t1" },
    { role: "user", parts: text("quick") },
  ]);
  const done = advance(resumed.state, says("ok"), AROUND);
  expect(done.entries.at(-1)?.type).toBe("session.waiting");
});

test("§16 a turn that failed under an earlier version can be done again", () => {
  const failed = fold(LOG.slice(0, 9));
  const made = advance(failed, { kind: "retry", turnId: "turn_0", principal: ADA }, AROUND);
  expect(made.entries.map(({ type }) => type)).toEqual([
    "control.queued",
    "control.taken",
    "turn.started",
    "step.started",
  ]);
  expect(made.state?.history).toEqual([{ role: "user", parts: [...text("look"), file] }]);
});
