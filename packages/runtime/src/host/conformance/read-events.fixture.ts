import type { Host } from "../../engine/ports.ts";
import type { StreamEvent } from "../../protocol/events.ts";

/** All events of a session so far. */
export async function all(host: Host, sessionId: string): Promise<StreamEvent[]> {
  return (await host.events(sessionId, 0, 10_000)).map(({ line }) => JSON.parse(line) as StreamEvent);
}

/** All events, once one of `type` is among them. */
export async function until(host: Host, sessionId: string, type: StreamEvent["type"]): Promise<StreamEvent[]> {
  return when(host, sessionId, (events) => events.some((event) => event.type === type));
}

/** The replies of the first `count` turns. */
export async function replies(host: Host, sessionId: string, count: number): Promise<string[]> {
  const events = await when(
    host,
    sessionId,
    (seen) => seen.filter(({ type }) => type === "session.waiting").length >= count,
  );
  return events.flatMap((event) => (event.type === "message.completed" ? [event.data.message] : []));
}

/** All events, once `condition` holds of them. */
export function when(
  host: Host,
  sessionId: string,
  condition: (events: StreamEvent[]) => boolean,
): Promise<StreamEvent[]> {
  return new Promise((resolve, reject) => {
    const look = async (): Promise<void> => {
      const events = await all(host, sessionId);
      if (!condition(events)) return;
      stop();
      resolve(events);
    };
    const stop = host.subscribe(sessionId, () => void look().catch(reject));
    void look().catch(reject);
  });
}
