import type { GateState } from "./gate.ts";
import type { ChildState } from "./serving-child.ts";
import type { Unavailable } from "./unavailable.ts";

/** What the public port does, from how the last build went and how its process is. */
export function toGateState(member: string, broken: Unavailable | undefined, child: ChildState): GateState {
  if (broken !== undefined) {
    // Without a good build there are no sessions, and whoever asks is told at once.
    const sessions = child.kind === "none" ? undefined : toGateState(member, undefined, child);
    return { kind: "broken", reason: broken, ...(sessions && sessions.kind !== "broken" && { sessions }) };
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
