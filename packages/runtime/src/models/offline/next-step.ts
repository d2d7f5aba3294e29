import type { Finding, PlannedCall, ToolFacts } from "./plan.ts";
import { inputOf, planCalls } from "./plan.ts";
import type { Outcome } from "./compose.ts";
import { stripNotice } from "./compose.ts";
import type { MadeCall, Turn } from "./read-prompt.ts";

export type NextStep =
  | { readonly kind: "calls"; readonly calls: readonly StartedCall[] }
  /** Tasks work and nothing else can start: the turn is held. */
  | { readonly kind: "wait" }
  | { readonly kind: "reply"; readonly outcomes: readonly Outcome[] };

export interface StartedCall {
  /** Message and place in its plan, `0_1`; ends the call's id, so that the call is known again in the next step. */
  readonly key: string;
  readonly name: string;
  readonly input: Record<string, unknown>;
}

export const MAX_CALL_STEPS = 8;

/** What to do now, from the turn so far and the tools alone. */
export function decideNextStep(turn: Turn, tools: readonly ToolFacts[]): NextStep {
  const jobs = trackJobs(turn, tools);
  const exhausted = turn.callSteps >= MAX_CALL_STEPS;
  const calls = exhausted ? [] : startable(jobs, turn.calls);
  if (calls.length > 0) return { kind: "calls", calls };
  if (turn.calls.some((call) => call.status === "working")) return { kind: "wait" };
  return { kind: "reply", outcomes: collectOutcomes(jobs, turn, exhausted) };
}

/** A planned call with the call that was made for it, if any. */
interface Job {
  readonly key: string;
  readonly planned: PlannedCall;
  readonly needs: readonly Job[];
  readonly made: MadeCall | undefined;
  /** The turn that asked for it was cancelled and a newer message took its place. */
  readonly abandoned: boolean;
}

function trackJobs(turn: Turn, tools: readonly ToolFacts[]): readonly Job[] {
  const jobs: Job[] = [];
  turn.messages.forEach(({ text }, place) => {
    const planned = planCalls(text, tools);
    const keys = planned.map((_, at) => `${place}_${at}`);
    const abandoned =
      place < turn.messages.length - 1 &&
      turn.calls.some((call) => isStopped(call) && keys.some((key) => isKeyOf(key, call)));
    const earlier = jobs.filter((job) => !job.abandoned);
    const own: Job[] = [];
    planned.forEach((plan, at) => {
      const key = keys[at] ?? "";
      const needs = plan.dangling ? earlier : plan.needs.flatMap((index) => own[index] ?? []);
      const call = plan.dangling && needs.length === 0 ? { ...plan, material: stripNotice(turn.previousReply) } : plan;
      const job = { key, planned: call, needs, abandoned };
      own.push({ ...job, made: findMade(job, turn.calls) });
    });
    jobs.push(...own);
  });
  return jobs;
}

function startable(jobs: readonly Job[], made: readonly MadeCall[]): readonly StartedCall[] {
  const started: StartedCall[] = [];
  const known = new Set(made.filter((call) => !isStopped(call)).map((call) => fingerprint(call.name, call.input)));
  for (const job of jobs) {
    if (job.made !== undefined || job.abandoned || !job.needs.every(isSettled) || isHopeless(job)) continue;
    const input = inputOf(job.planned, findingsOf(job.needs));
    const print = fingerprint(job.planned.tool.name, input);
    if (known.has(print)) continue;
    known.add(print);
    started.push({ key: job.key, name: job.planned.tool.name, input });
  }
  return started;
}

function collectOutcomes(jobs: readonly Job[], turn: Turn, exhausted: boolean): readonly Outcome[] {
  const counted = new Set<MadeCall>();
  const outcomes: Outcome[] = [];
  for (const job of jobs) {
    if (job.made !== undefined) {
      if (!job.abandoned && !counted.has(job.made)) outcomes.push(outcomeOf(job.made));
      counted.add(job.made);
    } else if (!job.abandoned && (exhausted || isHopeless(job) || job.needs.some((need) => need.made === undefined))) {
      const text = exhausted ? `the limit of ${MAX_CALL_STEPS} steps was reached` : "there was no result to hand on";
      outcomes.push({ name: job.planned.tool.name, status: "skipped", text });
    }
  }
  for (const call of turn.calls) if (!counted.has(call)) outcomes.push(outcomeOf(call));
  for (const { tool, status, text } of turn.strays) outcomes.push({ name: tool, status, text: stripNotice(text) });
  return outcomes;
}

function outcomeOf(call: MadeCall): Outcome {
  return { name: call.name, status: call.status === "working" ? "lost" : call.status, text: stripNotice(call.text) };
}

function findingsOf(jobs: readonly Job[]): readonly Finding[] {
  return jobs.flatMap(({ made }) =>
    made?.status === "completed" ? [{ name: made.name, text: stripNotice(made.text) }] : [],
  );
}

function isSettled(job: Job): boolean {
  return job.made === undefined ? isHopeless(job) : job.made.status !== "working";
}

/** It waited for results, and none of them came. */
function isHopeless(job: Job): boolean {
  return (
    job.needs.length > 0 &&
    job.needs.every((need) =>
      need.made === undefined ? isHopeless(need) : need.made.status !== "completed" && need.made.status !== "working",
    )
  );
}

function findMade(job: Omit<Job, "made">, calls: readonly MadeCall[]): MadeCall | undefined {
  const own = calls.find((call) => call.name === job.planned.tool.name && isKeyOf(job.key, call));
  if (own !== undefined || !job.needs.every(isSettled)) return own;
  const print = fingerprint(job.planned.tool.name, inputOf(job.planned, findingsOf(job.needs)));
  return calls.find((call) => !isStopped(call) && fingerprint(call.name, call.input) === print);
}

/** Stopped with its turn: a newer message may ask for the same again. */
function isStopped(call: MadeCall): boolean {
  return call.status === "cancelled" || call.status === "lost";
}

function isKeyOf(key: string, call: MadeCall): boolean {
  return call.callId.endsWith(`_${key}`);
}

function fingerprint(name: string, input: unknown): string {
  return `${name} ${JSON.stringify(input, (_, value: unknown) => (isRecord(value) ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))) : value))}`;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
