/**
 * A store without space, wherever the tests run: SQLite itself is told that the file may not grow. `test/store-errors`
 * has a disk that is really full, where one can be made.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, onTestFinished, test, vi } from "vitest";
import { none } from "../channels/auth.ts";
import { eveChannel } from "../channels/eve.ts";
import { defineAgent } from "../define/index.ts";
import { MANIFEST_VERSION } from "../protocol/manifest.ts";
import type { StreamEvent } from "../protocol/events.ts";
import { statelessScript } from "../testing/stateless-script.ts";
import { createMember, type Member } from "./member.ts";

const BASE = "http://127.0.0.1/eve/lead/v1";
const LARGE = "x".repeat(200_000);
const PLENTY = 1_000_000;

test("a message that does not fit is refused and not there, streams are read, and later all goes on", async () => {
  const { member, limit } = await create();
  const { sessionId } = await send(member, "/session", { message: "short 1" }, 202);
  await until(member, sessionId, 1);
  const before = await read(member, sessionId);

  limit(0);
  const session = `/session/${sessionId}`;
  const message = { message: `short ${LARGE}`, operationId: "one" };
  for (const path of [session, "/session"]) {
    const refused = await send(member, path, message, 507);
    expect(refused).toEqual({ ok: false, code: "STORE_FULL", error: expect.stringMatching(/no space.*Make space/) });
  }
  expect(await read(member, sessionId)).toEqual(before);

  limit(PLENTY);
  await send(member, session, { message: "short 2" }, 202);
  await until(member, sessionId, 2);
  // The operations were not taken either: they can be sent again.
  await send(member, session, message, 202);
  await until(member, sessionId, 3);
  const other = await send(member, "/session", message, 202);
  expect(other.sessionId).not.toBe(sessionId);
  expect(await messages(member, sessionId)).toEqual(["short 1", "short 2", message.message]);
});

test("what was accepted and can not be answered waits, and is answered once there is space", async () => {
  const { member, limit, logged } = await create();
  const { sessionId } = await send(member, "/session", { message: "short 1" }, 202);
  await until(member, sessionId, 1);

  limit(8);
  await send(member, `/session/${sessionId}`, { message: "long" }, 202);
  await vi.waitUntil(() => logged.some((line) => line.includes(sessionId) && line.includes("no space")));
  limit(PLENTY);
  await until(member, sessionId, 2);
  expect(await messages(member, sessionId)).toEqual(["short 1", "long"]);
  const replies = (await read(member, sessionId)).filter(({ type }) => type === "message.completed");
  expect(replies.map(({ data }) => (data as { message: string }).message)).toEqual(["short", LARGE]);
});

/** A member, and how to limit by how many pages its store may grow. */
async function create(): Promise<{ member: Member; limit: (pages: number) => void; logged: readonly string[] }> {
  const folder = mkdtempSync(join(tmpdir(), "store-full-"));
  const connections = new Set<DatabaseSync>();
  const { exec } = DatabaseSync.prototype;
  vi.spyOn(DatabaseSync.prototype, "exec").mockImplementation(function (this: DatabaseSync, sql) {
    connections.add(this);
    return exec.call(this, sql);
  });
  const logged: string[] = [];
  const member = await createMember(
    {
      manifest: {
        version: MANIFEST_VERSION,
        member: "lead",
        buildId: "b1",
        channel: "channels/eve.ts",
        nodes: [NODE],
      },
      modules: {
        "channels/eve.ts": eveChannel({ auth: [none()] }),
        "agent.ts": defineAgent({
          model: statelessScript({ "short*": [{ text: "short" }], long: [{ text: LARGE }] }),
        }),
      },
    },
    { env: {}, storeFolder: folder, origin: () => "http://a.invalid", log: (line) => logged.push(line) },
  );
  vi.restoreAllMocks();
  await member.start();
  onTestFinished(async () => {
    await member.close();
    rmSync(folder, { recursive: true });
  });
  return {
    member,
    logged,
    limit: (pages) => {
      for (const db of connections) {
        if (!db.isOpen) continue;
        const { page_count: count } = db.prepare("PRAGMA page_count").get() as { page_count: number };
        db.exec(`PRAGMA max_page_count = ${count + pages}`);
      }
    },
  };
}

async function send(
  member: Member,
  path: string,
  body: unknown,
  status: number,
): Promise<{ readonly sessionId: string }> {
  const headers = { "content-type": "application/json" };
  const response = await member.fetch(
    new Request(`${BASE}${path}`, { method: "POST", headers, body: JSON.stringify(body) }),
  );
  expect(response.status).toBe(status);
  return response.json();
}

async function read(member: Member, sessionId: string): Promise<StreamEvent[]> {
  const response = await member.fetch(new Request(`${BASE}/session/${sessionId}/stream?follow=false`));
  const text = await response.text();
  return text.split("\n").flatMap((line) => (line === "" ? [] : [JSON.parse(line) as StreamEvent]));
}

async function messages(member: Member, sessionId: string): Promise<string[]> {
  const events = await read(member, sessionId);
  return events.flatMap((event) => (event.type === "message.received" ? [event.data.message] : []));
}

/** Waits until so many turns have been answered. */
async function until(member: Member, sessionId: string, turns: number): Promise<void> {
  await vi.waitUntil(
    async () => (await read(member, sessionId)).filter(({ type }) => type === "session.waiting").length === turns,
    { timeout: 10_000 },
  );
}

const NODE = {
  id: "root",
  name: "lead",
  description: "Leads.",
  source: "agent.ts",
  modelId: "test/model",
  tools: [],
  subagents: [],
  composition: [],
};
