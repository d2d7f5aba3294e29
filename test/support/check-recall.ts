import { expect } from "vitest";
import type { StreamEvent } from "../../packages/runtime/src/protocol/events.ts";
import { replyOf } from "./check-stream.ts";
import { eventsOf, ofType, say } from "./converse.ts";

export interface Recalled {
  readonly offered: readonly { readonly name: string; readonly description: string }[];
  readonly history: readonly Said[];
}

interface Said {
  readonly role: string;
  readonly text: string;
}

/**
 * Asks the model of a session what it was shown (`fixtures/keeper`), and compares that with what the stream says has
 * been said: all of it, in that order, and each result of an agent once.
 */
export async function checkRecall(api: string, sessionId: string): Promise<Recalled> {
  const before = await eventsOf(api, sessionId);
  await say(api, sessionId, "Recall");
  const recalled = JSON.parse(replyOf(await eventsOf(api, sessionId))) as Recalled;

  let at = 0;
  for (const said of before.flatMap(toSaid)) {
    const found = recalled.history.findIndex(
      ({ role, text }, index) => index >= at && role === said.role && text === said.text,
    );
    expect(found, `${JSON.stringify(said)} in ${JSON.stringify(recalled.history.slice(at))}`).toBeGreaterThanOrEqual(
      at,
    );
    at = found + 1;
  }
  const told = ofType(before, "task.settled").filter(({ data }) => data.status !== "cancelled");
  const text = recalled.history.map((item) => item.text).join("\n");
  for (const [taskId, settled] of Map.groupBy(told, ({ data }) => data.taskId)) {
    expect(text.split(`<task_result id="${taskId}"`), `results of ${taskId}`).toHaveLength(settled.length + 1);
  }
  return recalled;
}

function toSaid({ type, data }: StreamEvent): Said[] {
  switch (type) {
    case "message.received":
      return data.parts.map((part) => ({
        role: "user",
        text: part.type === "text" ? part.text : `[${part.mediaType}]`,
      }));
    case "message.completed":
      return [{ role: "assistant", text: data.message }];
    case "actions.requested":
      return data.actions.map(({ toolName, subagentName, remoteAgentName, input }) => ({
        role: "assistant",
        text: `${toolName ?? subagentName ?? remoteAgentName}(${JSON.stringify(input)})`,
      }));
    case "action.result": {
      const { output } = data.result;
      return [{ role: "tool", text: typeof output === "string" ? output : JSON.stringify(output) }];
    }
    default:
      return [];
  }
}
