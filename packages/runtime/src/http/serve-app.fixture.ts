import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { createAdaptorServer } from "@hono/node-server";
import { onTestFinished } from "vitest";
import { BASE, type TestApp } from "./app.fixture.ts";

/** Serves a test's member on a port, as `serve` does, until the test ends. Returns the URL of its API. */
export async function serveApp({ app }: Pick<TestApp, "app">): Promise<string> {
  const server = createAdaptorServer({ fetch: app.fetch });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    server.close();
    if ("closeAllConnections" in server) server.closeAllConnections();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}${BASE}`;
}
