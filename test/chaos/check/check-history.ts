import { deliveryProblems } from "./check/deliveries.ts";
import { effectProblems } from "./check/effects.ts";
import { streamViewProblems } from "./check/streams.ts";
import { strayCancels, taskProblems } from "./check/tasks.ts";
import { toView } from "./check/view.ts";
import type { History } from "./history.ts";

/** Holds what was seen of a run against what is promised: one sentence for each thing that is not so. */
export function checkHistory(history: History): string[] {
  const view = toView(history);
  const strangers = history.deaths.filter(({ cause }) => cause.startsWith("by itself"));
  return [
    ...history.unfinished.map((what) => `unfinished: ${what}`),
    ...strangers.map(({ member, cause }) => `${member} died ${cause}`),
    ...deliveryProblems(view),
    ...streamViewProblems(view),
    ...taskProblems(view),
    ...strayCancels(view),
    ...effectProblems(view),
  ];
}
