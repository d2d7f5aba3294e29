import { request } from "node:http";
import { setTimeout as delay } from "node:timers/promises";

/** Two cores are shared by all that a test starts. */
const PAUSE_MS = 5;

export interface Callers {
  /** Ends them, and tells what they met: everything but a 2xx, and how many of those there were. */
  stop(): Promise<{ readonly refused: string[]; readonly answered: number }>;
}

/** Calls a member all the time, over a connection of its own each time: one reads its health, one opens sessions. */
export function keepCalling(api: string): Callers {
  const refused: string[] = [];
  let answered = 0;
  let stopped = false;
  const keep = async (method: "GET" | "POST", url: string): Promise<void> => {
    while (!stopped) {
      const outcome = await call(method, url);
      if (typeof outcome === "number" && outcome < 300) answered++;
      else refused.push(`${method} ${outcome}`);
      await delay(PAUSE_MS);
    }
  };
  const calling = Promise.all([keep("GET", `${api}/health`), keep("POST", `${api}/session`)]);
  return {
    stop: async () => {
      stopped = true;
      await calling;
      return { refused, answered };
    },
  };
}

function call(method: string, url: string): Promise<number | string> {
  return new Promise((resolve) => {
    const outgoing = request(url, { method, agent: false }, (response) => {
      response.resume().on("end", () => resolve(response.statusCode!));
      response.on("error", (error) => resolve(error.message));
    });
    outgoing.on("error", (error) => resolve(error.message)).end();
  });
}
