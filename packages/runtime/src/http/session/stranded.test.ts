import { DatabaseSync } from "node:sqlite";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { createTestApp, saying } from "../app.fixture.ts";

test("§16 a session that a later version has gone on with is left to that: it is read, and nothing else", async () => {
  const folder = mkdtempSync(join(tmpdir(), "eve-stranded-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const file = join(folder, "store.db");
  const before = await createTestApp({ perform: saying("ok"), file });
  const [theirs, ours] = [await before.create("hello"), await before.create("hello")];
  for (const id of [theirs, ours]) await before.until(id, "session.waiting");
  const seen = await before.events(theirs);
  await before.post(`/session/${theirs}`, { message: "and this?" });
  await before.until(theirs, "session.waiting", 2);
  await before.close();
  const db = new DatabaseSync(file);
  db.prepare("UPDATE sessions SET format = 99, active = 1 WHERE id = ?").run(theirs);
  db.close();

  const asked: string[] = [];
  const answer = saying("again");
  const after = await createTestApp({
    file,
    perform: (effect, context) => {
      asked.push(context.state.sessionId);
      return answer(effect, context);
    },
  });
  await after.host.start();
  const refused: unknown[] = [];
  for (const [path, body] of [
    ["", { message: "more" }],
    ["/cancel", {}],
    ["/compact", {}],
    ["/clear", {}],
    ["/retry", {}],
    ["/fork", {}],
    ["/reset", {}],
  ] as const) {
    const response = await after.post(`/session/${theirs}${path}`, body);
    refused.push([response.status, (await response.json()).code]);
  }
  expect(refused).toEqual(refused.map(() => [409, "session_stranded"]));
  const text = await (await after.get(`/session/${theirs}/stream?follow=false`)).text();
  const lines = text
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line));
  expect(lines.slice(0, seen.length)).toEqual(seen);
  expect((await after.get(`/session/${theirs}/export`)).status).toBe(200);

  await after.post(`/session/${ours}`, { message: "more" });
  await after.until(ours, "session.waiting", 2);
  expect(new Set(asked)).toEqual(new Set([ours]));
});
