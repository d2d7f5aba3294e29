import type { Call, Step } from "../../fixtures/chaos/lib/program.ts";
import type { Random } from "../random.ts";

/** Longer than a run may take: only a cancel or a reset ends it. */
const FOR_EVER_MS = 60_000;

/** Agents that an agent may call, and whether it has tools. */
const AGENTS: Readonly<Record<string, { readonly calls: readonly string[]; readonly works: boolean }>> = {
  caller: { calls: ["worker", "worker", "peer", "far"], works: true },
  worker: { calls: ["helper"], works: true },
  helper: { calls: [], works: false },
  peer: { calls: ["clerk"], works: true },
  far: { calls: ["clerk"], works: true },
  clerk: { calls: [], works: true },
};

/** What a person asks for. */
export function planMessage(random: Random): Step[] {
  switch (random.between(0, 9)) {
    case 0:
    case 1:
      return [talk(random)];
    case 2:
      return [step(random, workCalls(random, random.between(1, 3))), talk(random)];
    case 3:
      return [...Array.from({ length: random.between(2, 4) }, () => step(random, workCalls(random, 1))), talk(random)];
    case 4:
    case 5:
      return [step(random, eight(random)), talk(random)];
    case 6:
    case 7:
      return [step(random, [ask(random, random.pick(["peer", "far"]), 1)]), talk(random)];
    case 8:
      return [step(random, mixed(random)), step(random, [askAgain(random)]), talk(random)];
    default:
      return [step(random, [{ tool: "audit", ms: random.between(0, 40) }, ...mixed(random)]), talk(random)];
  }
}

/** A message that continues a task of an earlier one. */
export function planFollowUp(random: Random): Step[] {
  return [step(random, [askAgain(random), ...(random.chance(30) ? [askAgain(random)] : [])]), talk(random)];
}

/** Something that goes on until it is stopped: here, in a child, in eight, at the peer, or in the peer's child. */
export function planEndless(random: Random): Step[] {
  const endless = [step(random, [{ tool: "work", ms: FOR_EVER_MS }])];
  const below = (agent: string): Call => ({ agent, steps: endless });
  const calls: readonly (readonly Call[])[] = [
    [{ tool: "work", ms: FOR_EVER_MS }],
    [below("worker")],
    Array.from({ length: 8 }, () => below("worker")),
    [below("peer")],
    [below("far"), below("worker")],
    [{ agent: "peer", steps: [step(random, [below("clerk")])] }],
  ];
  return [step(random, random.pick(calls)), talk(random)];
}

function talk(random: Random): Step {
  return { pieces: random.between(1, 4), ms: random.between(1, 20) };
}

function step(random: Random, calls: readonly Call[]): Step {
  return { pieces: random.chance(30) ? 2 : 0, ms: random.between(0, 20), calls };
}

function workCalls(random: Random, count: number): Call[] {
  return Array.from({ length: count }, () => ({ tool: "work", ms: random.between(0, 60) }) as const);
}

function eight(random: Random): Call[] {
  return Array.from({ length: 8 }, () => ask(random, "worker", 0));
}

function mixed(random: Random): Call[] {
  const agents = Array.from({ length: random.between(1, 3) }, () => ask(random, random.pick(AGENTS.caller!.calls), 1));
  return [...workCalls(random, random.between(0, 1)), ...agents];
}

function askAgain(random: Random): Call {
  return { ...ask(random, random.pick(AGENTS.caller!.calls), 0), again: true };
}

/** A call of an agent that may work, and call others down to a depth. */
function ask(random: Random, agent: string, depth: number): Call & { readonly agent: string } {
  const { calls, works } = AGENTS[agent]!;
  const steps: Step[] = [];
  if (works && random.chance(50)) steps.push(step(random, workCalls(random, 1)));
  if (depth > 0 && calls.length > 0 && random.chance(50)) {
    steps.push(step(random, [ask(random, random.pick(calls), depth - 1)]));
  }
  return { agent, steps: [...steps, talk(random)] };
}
