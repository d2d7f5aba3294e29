import type { TaskLimits } from "../engine/input.ts";
import type { RegisteredNode } from "./registry.ts";

/** How long the calls that a node's sessions make of agents may take (contract §6.11); `undefined`: as long as it takes. */
export function taskLimitsOf({ limits }: RegisteredNode): TaskLimits | undefined {
  const { taskTimeoutMs: timeoutMs, taskSilenceMs: silenceMs } = limits;
  if (timeoutMs === undefined && silenceMs === undefined) return undefined;
  return {
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
    ...(silenceMs === undefined ? {} : { silenceMs }),
  };
}
