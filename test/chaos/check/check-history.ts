import { deliveryProblems } from "./deliveries.ts";
import { hiddenWork } from "./hidden-work.ts";
import { modelProblems } from "./models.ts";
import { stoppedWork } from "./stopped-work.ts";
import { toolProblems } from "./tools.ts";
import { streamViewProblems } from "./streams.ts";
import { taskProblems } from "./tasks.ts";
import { toView } from "./view.ts";
import type { History } from "../history.ts";

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
    ...toolProblems(view),
    ...modelProblems(view),
    ...hiddenWork(view),
    ...stoppedWork(view),
  ];
}
