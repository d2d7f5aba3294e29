import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { json } from "node:stream/consumers";

/** An agent elsewhere that accepts every session and never replies. */
export interface SilentAgent extends AsyncDisposable {
  readonly origin: string;
  /** Address that the last caller wants to be called back at. */
  readonly callbackUrl: string;
}

export async function startSilentAgent(): Promise<SilentAgent> {
  let sessions = 0;
  let callbackUrl = "";
  const server = createServer(async (request, response) => {
    const body = (await json(request)) as { callback: { url: string } };
    callbackUrl = body.callback.url;
    const id = ++sessions;
    const accepted = { ok: true, sessionId: `elsewhere-${id}`, status: "accepted", deliveryId: `delivery-${id}` };
    response.writeHead(202, { "content-type": "application/json" }).end(JSON.stringify(accepted));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return {
    origin: `http://127.0.0.1:${port}`,
    get callbackUrl() {
      return callbackUrl;
    },
    [Symbol.asyncDispose]: async () => {
      if (!server.listening) return;
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}
