import { decide } from "./decide.ts";
import type { Entry } from "./entry.ts";
import { TASK_CANCEL_TOOL, TASK_WAIT_TOOL, waitEnded } from "./text.ts";
import type { SimSession, Step } from "./world.fixture.ts";

const STATES = [
  "joined",
  "late",
  "cancelled",
  "failed",
  "restarted",
  "steered",
  "reset",
  "earlyCallback",
  "abandoned",
  "nested",
  "retried",
  "reissued",
  "woken",
  "dropped",
  "refused",
  "orphanStopped",
  "gone",
  "steeredEarly",
  "toolSteered",
  "compacted",
  "compactedBetween",
  "compactionFailed",
  "cleared",
  "again",
  "refusedOutput",
  "structured",
  "expired",
  "forked",
  "retriedShorter",
  "contextKept",
  "waitedResult",
  "waitedMessage",
  "waitedIdle",
  "waitedTime",
  "waitedBeside",
  "stopped",
  "stoppedIdle",
  "stoppedUnknown",
  "stoppedContinued",
  "overdue",
  "overdueJoined",
  "overdueAnswered",
  "overdueAbroad",
  "overdueContinued",
] as const;

/** States that a run reached; a suite that never reaches one of them proves nothing about it. */
export type Coverage = Record<(typeof STATES)[number], number>;

export function createCoverage(): Coverage {
  return Object.fromEntries(STATES.map((state) => [state, 0])) as Coverage;
}

/** Counts what a step reached. */
export function cover(coverage: Coverage, session: SimSession, step: Step): void {
  const { before, input, entries, after } = step;
  coverTasks(coverage, step);
  const has = (type: Entry["type"]): boolean => entries.some((entry) => entry.type === type);
  const settled = entries.filter((entry) => entry.type === "task.settled");
  if (input.kind === "child.settled" && input.status === "completed" && settled.length > 1) {
    coverage.joined++;
    if (settled.some((entry) => entry.type === "task.settled" && !input.callIds.includes(entry.data.callId)))
      coverage.late++;
  }
  if (has("turn.cancelled")) coverage.cancelled++;
  if (has("turn.failed")) coverage.failed++;
  if (input.kind === "effect.interrupted" && has("step.started")) coverage.restarted++;
  if (input.kind === "model.failed" && has("step.started")) coverage.retried++;
  if (has("reply.reissued")) coverage.reissued++;
  if (has("delivery.dropped")) coverage.dropped++;
  if (has("session.completed")) coverage[input.kind === "reset" ? "reset" : "expired"]++;
  if (has("message.received") && has("step.started") && before?.turn?.phase === "model" && input.kind === "deliver")
    coverage.steeredEarly++;
  if (
    input.kind === "deliver" &&
    after !== undefined &&
    decide(after).some((effect) => effect.kind === "tool" && effect.steered)
  )
    coverage.toolSteered++;
  if (has("compaction.completed")) coverage[before?.turn === undefined ? "compactedBetween" : "compacted"]++;
  if (has("compaction.failed")) coverage.compactionFailed++;
  if (has("context.cleared")) coverage.cleared++;
  if (entries.some((entry) => entry.type === "turn.started" && entry.data.retryOf !== undefined)) coverage.again++;
  if (input.kind === "open" && input.fork !== undefined) coverage.forked++;
  if (has("compaction.completed") && after?.failed !== undefined) coverage.retriedShorter++;
  if (after?.history.some((item) => item.role === "note" && item.context !== undefined)) coverage.contextKept++;
  if (has("output.refused")) coverage.refusedOutput++;
  if (has("result.completed")) coverage.structured++;
  if (has("message.received") && before?.turn !== undefined && !has("turn.started")) {
    coverage.steered++;
    if (before.turn.phase === "tasks" && input.kind === "deliver") coverage.woken++;
  }
  if (input.kind === "child.settled" && has("agent.started")) coverage.earlyCallback++;
  if (
    input.kind === "remote.failed" &&
    settled.length > 0 &&
    Object.values(after!.tasks).some((task) => task.status === "working")
  )
    coverage.refused++;
  if (input.kind === "remote.accepted" && entries.some((entry) => entry.type === "outgoing.queued"))
    coverage.abandoned++;
  if (input.kind === "child.settled" && input.status !== "completed" && settled.length > input.callIds.length)
    coverage.orphanStopped++;
  if (input.kind === "child.settled" && input.error?.code === "SESSION_NOT_ACTIVE" && settled.length > 0)
    coverage.gone++;
  if (session.state?.origin.kind === "local" && has("agent.started")) coverage.nested++;
}

function coverTasks(coverage: Coverage, { before, input, entries, after }: Step): void {
  const ends = { result: "waitedResult", message: "waitedMessage", idle: "waitedIdle", time: "waitedTime" } as const;
  for (const entry of entries) {
    if (entry.type === "action.result") {
      const { toolName, output } = entry.data.result;
      for (const end of ["result", "message", "idle", "time"] as const)
        if (toolName === TASK_WAIT_TOOL && output === waitEnded(end)) coverage[ends[end]]++;
      if (toolName === TASK_CANCEL_TOOL && String(output).includes("nothing to stop")) coverage.stoppedIdle++;
      if (toolName === TASK_CANCEL_TOOL && entry.data.status === "failed") coverage.stoppedUnknown++;
    }
    if (entry.type === "task.settled" && entry.data.cancel?.reason === "task_cancel") {
      coverage.stopped++;
      const { taskId } = entry.data;
      const again = (other: Entry): boolean => other.type === "task.started" && other.data.taskId === taskId;
      if (entries.slice(entries.indexOf(entry)).some(again)) coverage.stoppedContinued++;
    }
    if (entry.type === "task.started" && before?.tasks[entry.data.taskId]?.status === "idle") {
      const { taskId } = entry.data;
      if (before.history.some((item) => item.role === "note" && item.text.includes(`task ${taskId} had no reply`)))
        coverage.overdueContinued++;
    }
  }
  if (after?.turn !== undefined && after.turn.waits.length > 0 && Object.keys(after.turn.pending).length > 0)
    coverage.waitedBeside++;
  const settled = entries.filter((entry) => entry.type === "task.settled");
  if (input.kind !== "call.overdue" || settled.length === 0) return;
  coverage.overdue++;
  if (settled.length > 1) coverage.overdueJoined++;
  if (settled.some(({ data }) => data.status === "completed")) coverage.overdueAnswered++;
  if (after!.tasks[input.taskId]!.waiting.some(({ abandoned }) => abandoned)) coverage.overdueAbroad++;
}
