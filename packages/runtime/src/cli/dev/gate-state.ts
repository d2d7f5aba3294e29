import type { GateState } from "./gate.ts";
import type { ChildState } from "./serving-child.ts";
import type { Unavailable } from "./unavailable.ts";

/** What the public port does, from how the last build went and how its process is. */
export function toGateState(member: string, broken: Unavailable | undefined, child: ChildState): GateState {
  if (broken !== undefined) {
    return { kind: "broken", reason: broken, ...(child.kind === "listening" ? { port: child.port } : {}) };
  }
  switch (child.kind) {
    case "none":
      return { kind: "waiting", why: `agents/${member} is being compiled.` };
    case "starting":
      return { kind: "waiting", why: `agents/${member} is starting.` };
    case "listening":
      return { kind: "serving", port: child.port };
    case "crashed":
      return {
        kind: "broken",
        reason: { error: `agents/${member} does not start. ${child.error}`, diagnostics: [] },
      };
  }
}
