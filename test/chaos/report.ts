import { SITUATIONS, type Reached } from "./check/coverage.ts";
import type { SeedReport } from "./run-seed.ts";

/** Violations shown of one seed: the first few say enough. */
const MAX_SHOWN = 20;
const MAX_LENGTH = 500;

/** One line about a seed. */
export function describeSeed({ seed, violations, history, recoveryMs, durationMs }: SeedReport): string {
  const { messages, streams, deaths } = history;
  const facts = `${messages.length} messages, ${streams.length} sessions, ${deaths.length} kills`;
  const verdict = violations.length === 0 ? "ok" : `${violations.length} VIOLATIONS`;
  return `seed ${seed}: ${verdict}; ${facts}; over ${recoveryMs} ms after the last restart, ${durationMs} ms in all`;
}

/** What was wrong with a seed, what happened when, and how to see it again. */
export function describeFailure(report: SeedReport): string {
  const { seed, violations, timeline } = report;
  const start = timeline[0]?.at ?? 0;
  const shown = violations.slice(0, MAX_SHOWN).map((violation) => `  - ${violation.slice(0, MAX_LENGTH)}`);
  const more = violations.length > MAX_SHOWN ? [`  - and ${violations.length - MAX_SHOWN} more`] : [];
  const events = timeline.map(({ at, what }) => `  ${String(at - start).padStart(6)} ms  ${what.slice(0, MAX_LENGTH)}`);
  return [describeSeed(report), ...shown, ...more, "  timeline:", ...events, `  again: pnpm chaos --seed ${seed}`].join(
    "\n",
  );
}

/** How often all seeds together came to each situation. */
export function sumReached(reports: readonly Pick<SeedReport, "reached">[]): Reached {
  const sums = SITUATIONS.map((name) => [name, reports.reduce((sum, { reached }) => sum + reached[name], 0)] as const);
  return Object.fromEntries(sums) as Reached;
}

/** Smallest, median, 95th and 99th percentile and greatest of some times. */
export function describeTimes(times: readonly number[]): string {
  const sorted = times.toSorted((a, b) => a - b);
  const at = (part: number): number => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? 0;
  return `min ${at(0)}, p50 ${at(0.5)}, p95 ${at(0.95)}, p99 ${at(0.99)}, max ${at(1)} ms`;
}

export function describeReached(reached: Reached): string {
  return SITUATIONS.map((name) => `  ${String(reached[name]).padStart(6)}  ${name}`).join("\n");
}
