import { once } from "node:events";
import { request } from "node:http";
import fc from "fast-check";
import { expect, test } from "vitest";
import { createTestApp, saying, type TestApp } from "./app.fixture.ts";
import { serveApp } from "./serve-app.fixture.ts";

/** Texts whose bytes are not their characters, so that a cut can come in the middle of one. */
const MESSAGES = ["hello", "Grüße aus Köln", "🌊🌈 tides and rainbows", 'a "quoted" line\nand another'];

/** Reads at most `bytes` of a stream and then breaks the connection. Returns the lines that were complete. */
async function readCut(url: string, bytes: number): Promise<string[]> {
  const sent = request(url, { headers: { "x-user": "ada" }, agent: false }).end();
  const [response] = await once(sent, "response");
  let read = Buffer.alloc(0);
  for await (const chunk of response as AsyncIterable<Buffer>) {
    read = Buffer.concat([read, chunk]);
    if (read.length >= bytes) break;
  }
  sent.destroy();
  const complete = read.subarray(0, bytes).toString().split("\n").slice(0, -1);
  return complete.filter((line) => line !== "");
}

/** Reads on from the cursor after every cut until the session has ended, whatever was left of the last connection. */
async function readOverCuts(url: string, cuts: readonly number[]): Promise<string[]> {
  const lines: string[] = [];
  for (let connection = 0; !lines.at(-1)?.includes('"session.completed"'); connection++) {
    // When the cuts are used up, the rest comes in one.
    lines.push(...(await readCut(`${url}?startIndex=${lines.length}`, cuts[connection] ?? Infinity)));
  }
  return lines;
}

async function converse(): Promise<TestApp & { url: string; sessionId: string; say(message: string): Promise<void> }> {
  const app = await createTestApp({ perform: saying("Ebbe und Flut, 潮汐") });
  const api = await serveApp(app);
  const { sessionId } = (await (await app.post("/session", {})).json()) as { sessionId: string };
  let turns = 0;
  return {
    ...app,
    sessionId,
    url: `${api}/session/${sessionId}/stream`,
    say: async (message) => {
      await app.post(`/session/${sessionId}`, { message });
      await app.until(sessionId, "session.waiting", ++turns);
    },
  };
}

const storedLines = async ({ host, sessionId }: Pick<TestApp, "host"> & { sessionId: string }): Promise<string[]> =>
  (await host.events(sessionId, 0, 10_000)).map(({ line }) => line);

test("§19 whatever connections are cut wherever, the reader gets every event, once, under the same id", async () => {
  const session = await converse();
  for (const message of MESSAGES) await session.say(message);
  await session.post(`/session/${session.sessionId}/reset`, {});
  await session.until(session.sessionId, "session.completed");
  const stored = await storedLines(session);
  const size = Buffer.byteLength(stored.join("\n")) + 2;
  const cut = fc.oneof(fc.nat(size), fc.nat(300));
  await fc.assert(
    fc.asyncProperty(fc.array(cut, { maxLength: 12 }), async (cuts) => {
      expect(await readOverCuts(session.url, cuts)).toEqual(stored);
    }),
    { numRuns: 60 },
  );
});

test("§19 the same at every byte of one event", async () => {
  const session = await converse();
  await session.say("Grüße 🌊");
  await session.post(`/session/${session.sessionId}/reset`, {});
  await session.until(session.sessionId, "session.completed");
  const stored = await storedLines(session);
  const received = stored.findIndex((line) => line.includes('"message.received"'));
  const line = Buffer.byteLength(`\n${stored[received]}\n`);
  for (let bytes = 0; bytes <= line; bytes++) {
    const before = await readCut(`${session.url}?startIndex=${received}`, bytes);
    expect(before, `cut after ${bytes} bytes`).toEqual(bytes < line ? [] : [stored[received]]);
    const rest = `${session.url}?startIndex=${received + before.length}`;
    expect([...before, ...(await readCut(rest, Infinity))]).toEqual(stored.slice(received));
  }
});

test("§19 the same while the events are being written", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.nat(2_000), { minLength: 1, maxLength: 20 }), async (cuts) => {
      const session = await converse();
      const [read] = await Promise.all([
        readOverCuts(session.url, cuts),
        (async () => {
          for (const message of MESSAGES) await session.say(message);
          await session.post(`/session/${session.sessionId}/reset`, {});
        })(),
      ]);
      expect(read).toEqual(await storedLines(session));
    }),
    { numRuns: 15 },
  );
});

test("PROTOCOL: an unknown session answers within a second", async () => {
  const api = await serveApp(await createTestApp({ perform: saying("hi") }));
  for (const query of ["", "?follow=false", "?startIndex=-1&includeTailIndex=1&streamControlVersion=1"]) {
    const begun = performance.now();
    const response = await fetch(`${api}/session/ses_unknown/stream${query}`, { headers: { "x-user": "ada" } });
    expect([response.status, ((await response.json()) as { code: string }).code]).toEqual([404, "NOT_FOUND"]);
    expect(performance.now() - begun).toBeLessThan(1_000);
  }
});
