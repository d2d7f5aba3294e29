import type { Host } from "../../engine/ports.ts";
import type { HistoryItem } from "../../engine/state.ts";
import { AgentError } from "../../errors.ts";
import { forkSchema } from "../../protocol/wire.ts";
import { actsAs } from "../authenticate.ts";
import { readBody } from "../read-body.ts";
import { ownHead } from "./archive.ts";
import { toOperationKey, usedBefore } from "./delivery.ts";
import type { RouteContext } from "./routes.ts";

/**
 * `POST <base>/session/:id/fork` (beyond the protocol): a new session that goes on with what was said up to an event;
 * up to the last one, unless `at` names another. It has no tasks and no turn under way.
 */
export async function forkSession(c: RouteContext, host: Host): Promise<Response> {
  const { at, operationId } = await readBody(c, forkSchema);
  const { sessionId, nextIndex, owner } = await ownHead(c, host);
  const index = at ?? nextIndex - 1;
  const state = await host.stateAt(sessionId, index);
  if (state === undefined) throw noSuchEvent(index, nextIndex);
  const principal = actsAs(c.get("principal"), owner);
  const { nodeId, agentName } = state;
  const operation =
    operationId === undefined
      ? {}
      : {
          operationKey: toOperationKey(`fork:${sessionId}`, principal, operationId),
          digest: at === undefined ? "last" : String(at),
        };
  const opened = await host.open({
    ...operation,
    input: {
      kind: "open",
      nodeId,
      agentName,
      origin: { kind: "root" },
      initiator: principal,
      fork: { sessionId, index, history: state.history.map(withoutContext) },
    },
  });
  if (opened.conflict) throw usedBefore();
  c.header("x-eve-session-id", opened.sessionId);
  c.header("cache-control", "no-store");
  return c.json({ ok: true, sessionId: opened.sessionId, status: "accepted" }, 202);
}

function noSuchEvent(index: number, nextIndex: number): AgentError {
  const events = nextIndex === 0 ? "has no events yet" : `has the events 0 to ${nextIndex - 1}, not ${index}`;
  return new AgentError("BAD_REQUEST", `at: the session ${events}.`, {
    fix: "Fork it at an event that it has.",
    data: { field: "at" },
  });
}

/** Facts of the turn that was under way are not those of the next one. */
function withoutContext(item: HistoryItem): HistoryItem {
  return item.role === "user" ? { role: "user", parts: item.parts } : item;
}
