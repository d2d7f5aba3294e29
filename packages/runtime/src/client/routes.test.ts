import { expect, test } from "vitest";
import type { Perform } from "../engine/ports.ts";
import { createTestApp, saying } from "../http/app.fixture.ts";
import { serveApp } from "../http/serve-app.fixture.ts";
import { Client } from "./index.ts";

test("retry, fork, export, list, delete, compact, clear of a real member", async () => {
  let failing = true;
  const perform: Perform = async (effect, context) =>
    failing
      ? ({ kind: "model.failed", code: "MODEL_FAILED", message: "No.", retryable: false } as never)
      : saying("Hello.")(effect, context);
  const app = await createTestApp({ perform });
  const client = new Client({ host: await serveApp(app), headers: { "x-user": "ada" } });
  const { session, response } = await client.sessions.create({ message: "hello" });
  const first = await response.result();
  expect(first).toMatchObject({ status: "waiting", error: { code: "MODEL_FAILED" } });
  failing = false;
  const again = await (await session.retry()).result();
  expect(again).toMatchObject({ message: "Hello.", error: undefined, turnId: "turn_1" });
  await expect(session.retry()).rejects.toMatchObject({ status: 409, code: "NOTHING_TO_RETRY" });
  const forked = await session.fork();
  expect((await (await forked.send("more")).result()).message).toBe("Hello.");
  const lines = (await new Response(await session.export()).text()).trim().split("\n");
  expect(lines.length).toBe((await session.snapshot()).events.length + 1);
  const page = await client.sessions.list({ limit: 1 });
  const next = await client.sessions.list({ limit: 1, cursor: page.cursor! });
  expect(next.sessions.length).toBe(1);
  expect(await forked.delete()).toEqual({ status: "deleted" });
  expect((await session.compact()).status).toBe("accepted");
  expect((await session.clear()).status).toBe("accepted");
  await app.until(session.state.sessionId, "context.cleared");
});
