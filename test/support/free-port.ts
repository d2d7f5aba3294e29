import { once } from "node:events";
import { createServer } from "node:net";

// Below the ports that the system gives to outgoing connections: one of those could take the port of a member that
// is being restarted.
const FIRST = 20_000;
const COUNT = 10_000;
let next = process.pid % COUNT;

/** A port that nobody listens on, and that this process does not hand out again soon. */
export async function freePort(): Promise<number> {
  for (let tries = 0; tries < COUNT; tries++) {
    const port = FIRST + (next++ % COUNT);
    if (await isFree(port)) return port;
  }
  throw new Error("No port is free.");
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer();
  try {
    server.listen(port, "127.0.0.1");
    await once(server, "listening");
    return true;
  } catch {
    return false;
  } finally {
    server.close();
  }
}
