import type { Host } from "../../engine/ports.ts";
import type { Task } from "../../engine/state.ts";
import { ownHead } from "./archive.ts";
import type { RouteContext } from "./routes.ts";

/** `GET <base>/session/:id/tasks` (beyond the protocol): the tasks of a session, the one used last first. */
export async function listTasks(c: RouteContext, host: Host): Promise<Response> {
  const { sessionId } = await ownHead(c, host);
  const tasks = Object.values((await host.state(sessionId))?.tasks ?? {});
  c.header("cache-control", "no-store");
  return c.json({ tasks: tasks.toSorted((a, b) => b.used - a.used).map(toEntry) });
}

function toEntry({ taskId, tool, status, remote, childSessionId, waiting }: Task): Record<string, unknown> {
  return {
    taskId,
    name: tool,
    kind: "agent",
    status,
    remote: remote !== undefined,
    ...(childSessionId === undefined ? {} : { sessionId: childSessionId }),
    calls: waiting.filter(({ abandoned }) => !abandoned).map(({ callId, turnId }) => ({ callId, turnId })),
  };
}
