import { spawnSync, type SpawnSyncReturns } from "node:child_process";
import {
  chmodSync,
  copyFileSync,
  mkdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterAll, beforeAll, describe, expect, test, type TestContext } from "vitest";
import { ROOT, type BuiltWorkspace } from "./support/build-workspace.ts";
import { replyOf } from "./support/check-stream.ts";
import { converse, eventsOf, ofType, say } from "./support/converse.ts";
import { createAuthoredWorkspace, runEve } from "./support/dev-member.ts";
import { freePort } from "./support/free-port.ts";
import { overwritePage } from "./support/damage-store.ts";
import { buildKeeper, createKeeper } from "./support/keeper.ts";
import { postJson } from "./support/post-json.ts";
import { startOnSmallDisk, whyNoSmallDisk } from "./support/small-disk.ts";
import { tempFolder } from "./support/temp-folder.ts";
import { until } from "./support/until.ts";

const SOUND = join(ROOT, "test/stores/v1/store.db");
const NOBODY = 65_534;
const LINE = /^STORE_UNUSABLE The store [^\n]+ — [^\n]+\n$/;

let workspace: BuiltWorkspace;
beforeAll(async () => void (workspace = await buildKeeper()));
afterAll(() => workspace?.[Symbol.dispose]());

/** Starts the member on a store that it can not use: it ends by itself. */
async function start(store: string, user: { uid?: number; gid?: number } = {}): Promise<SpawnSyncReturns<string>> {
  return spawnSync(process.execPath, [workspace.server("keeper")], {
    env: { PORT: String(await freePort()), EVE_STORE: store, EVE_DEV: "1" },
    encoding: "utf8",
    timeout: 20_000,
    ...user,
  });
}

describe("a store that can not be opened ends the start with one line that says what to do, and stays as it is:", () => {
  test.each<[string, (file: string) => void, RegExp]>([
    [
      "of a newer version",
      (file) => setVersion(file, 999),
      /of version 999; this runtime knows up to \d+\..*EVE_STORE/,
    ],
    ["that is no database", (file) => writeFileSync(file, "This is no database. ".repeat(1_000)), /not a database/],
    ["that was cut in the middle", (file) => truncateSync(file, Math.floor(statSync(file).size / 2)), /malformed/],
    ["whose first page is overwritten", (file) => overwriteStart(file), /not a database/],
  ])("%s", async (_, damage, why) => {
    using folder = tempFolder();
    const file = join(folder.path, "store.db");
    copyFileSync(SOUND, file);
    damage(file);
    const before = readFileSync(file);
    const { status, stderr } = await start(folder.path);
    expect(stderr).toMatch(LINE);
    expect(stderr).toMatch(why);
    expect(stderr).not.toContain(folder.path);
    expect(status).toBe(1);
    expect(readFileSync(file).equals(before)).toBe(true);
  });

  test("that is a folder, and a folder of the store that is a file", async () => {
    using folder = tempFolder();
    mkdirSync(join(folder.path, "store.db"));
    writeFileSync(join(folder.path, "taken"), "");
    for (const store of [folder.path, join(folder.path, "taken"), join(folder.path, "taken/below")]) {
      const { status, stderr } = await start(store);
      expect(stderr).toMatch(LINE);
      expect(stderr).not.toContain(folder.path);
      expect(status).toBe(1);
    }
  });

  test.for([
    { where: "in a folder that may not be written", folderMode: 0o555, fileMode: 0o666 },
    { where: "in a file that may not be written", folderMode: 0o777, fileMode: 0o444 },
  ])("$where", async ({ folderMode, fileMode }, context) => {
    using folder = tempFolder();
    const file = join(folder.path, "store.db");
    copyFileSync(SOUND, file);
    chmodSync(file, fileMode);
    chmodSync(folder.path, folderMode);
    const { status, stderr } = await start(folder.path, nobody(context));
    expect(stderr).toMatch(LINE);
    expect(stderr).toMatch(/readonly|unable to open|EACCES/);
    expect(status).toBe(1);
    expect(readFileSync(file).equals(readFileSync(SOUND))).toBe(true);
  });
});

test("eve dev answers on its port why the store can not be used, and goes on once the file is moved away", async () => {
  using authored = createAuthoredWorkspace({
    "agents/lone/agent/agent.ts": `import { defineAgent } from "eve";\nexport default defineAgent({ description: "Alone." });`,
  });
  using folder = tempFolder();
  const file = join(folder.path, "store.db");
  copyFileSync(SOUND, file);
  setVersion(file, 999);
  await using member = await runEve(authored, "lone", ["dev"], { EVE_STORE: folder.path });
  await member.untilLogged(/STORE_UNUSABLE/);
  const response = await fetch(`${member.api}/health`);
  expect(response.status).toBe(503);
  expect(await response.json()).toMatchObject({
    code: "MEMBER_UNAVAILABLE",
    error: expect.stringMatching(/STORE_UNUSABLE The store is of version 999/),
  });
  rmSync(file);
  await member.untilLogged(/lone ready/);
  expect((await fetch(`${member.api}/health`)).status).toBe(200);
});

test("a page that is overwritten concerns the session that it belongs to, and no other one", async () => {
  using notes = tempFolder();
  await using member = await createKeeper(workspace, join(notes.path, "journal"));
  await member.start();
  const talk = async (marker: string): Promise<string> => {
    const sessionId = await converse(member.api, `Hello ${marker.repeat(40)}`);
    for (let turn = 0; turn < 10; turn++) await say(member.api, sessionId, `Hello ${marker.repeat(40)}`);
    return sessionId;
  };
  const damaged = await talk("damaged ");
  const sound = await talk("sound ");
  const [lines, soundLines] = [await eventsOf(member.api, damaged), await eventsOf(member.api, sound)];
  await member.stop();
  overwritePage(join(member.store, "store.db"), { wanted: "damaged damaged", spared: "sound sound" });
  await member.start();

  const refused = await readUntilRefused(`${member.api}/session/${damaged}/stream`);
  expect(refused).toMatchObject({ status: 500, body: { ok: false, code: "STORE_UNUSABLE" } });
  expect(refused.body.error).toMatch(/malformed.*EVE_STORE/);
  expect(refused.body.error).not.toContain(member.store);
  expect(refused.read).toBeLessThan(lines.length);
  expect(await eventsOf(member.api, sound)).toEqual(soundLines);
  await say(member.api, sound, "Hello again");
  await converse(member.api, "Hello anew");
  expect(member.running()).toBe(true);
});

test("a full disk: requests are refused with 507, streams are read, and all goes on once there is space", async (context) => {
  const why = whyNoSmallDisk();
  if (why !== undefined) return context.skip(why);
  using notes = tempFolder();
  const gate = join(notes.path, "gate");
  await using member = await startOnSmallDisk("keeper", workspace.server("keeper"), { TEST_GATE: gate });
  const { api } = member;
  const sessionId = await converse(api, "Hello first");
  const busy = String((await postJson(`${api}/session`, { message: "Count for long" })).body.sessionId);
  await until("the tool runs", async () => ofType(await eventsOf(api, busy), "step.completed").length === 1);
  const before = await eventsOf(api, sessionId);
  const large = `Hello in need ${"x".repeat(100_000)}`;
  // Read together with the result of the tool, it makes a commit that will not fit.
  await postJson(`${api}/session/${busy}`, { message: large });

  member.fill();
  for (const [url, body] of [
    [`${api}/session/${sessionId}`, { message: large, operationId: "need" }],
    [`${api}/session`, { message: large, operationId: "need" }],
  ] as const) {
    const refused = await postJson(url, body);
    expect(refused).toMatchObject({ status: 507, body: { ok: false, code: "STORE_FULL" } });
    expect(refused.body.error).toMatch(/space/);
  }
  expect(await eventsOf(api, sessionId)).toEqual(before);
  expect((await fetch(`${api}/health`)).status).toBe(200);
  writeFileSync(gate, "");
  await until("what the tool did can not be stored", () => member.log.includes("no space"));

  member.free();
  await say(api, sessionId, "Hello after");
  const messages = ofType(await eventsOf(api, sessionId), "message.received").map(({ data }) => data.message);
  expect(messages).toEqual(["Hello first", "Hello after"]);
  expect((await postJson(`${api}/session`, { message: large, operationId: "need" })).status).toBe(202);
  const done = await until("the work is done", async () => {
    const events = await eventsOf(api, busy);
    return events.at(-1)?.type === "session.waiting" ? events : undefined;
  });
  expect(ofType(done, "action.result")).toHaveLength(1);
  expect(ofType(done, "message.received").map(({ data }) => data.message)).toEqual(["Count for long", large]);
  expect(replyOf(done)).toBe("Good day.");
});

function setVersion(file: string, version: number): void {
  const db = new DatabaseSync(file);
  db.exec(`PRAGMA user_version = ${version}; PRAGMA wal_checkpoint(TRUNCATE);`);
  db.close();
}

function overwriteStart(file: string): void {
  const bytes = readFileSync(file);
  writeFileSync(file, bytes.fill(0xff, 0, 4_096));
}

/** Root may write everything, so another user starts the member. */
function nobody(context: TestContext): { uid?: number; gid?: number } {
  if (process.getuid?.() !== 0) return {};
  const user = { uid: NOBODY, gid: NOBODY };
  chmodSync(workspace.root, 0o755);
  const script = `require("node:fs").accessSync(${JSON.stringify(workspace.server("keeper"))})`;
  const { status } = spawnSync(process.execPath, ["-e", script], user);
  if (status !== 0) context.skip("The tests run as root, and no other user can read the build.");
  return user;
}

/** Reads a stream, from where it broke off on, until it is answered with an error. */
async function readUntilRefused(
  url: string,
): Promise<{ status: number; body: Readonly<Record<string, unknown>>; read: number }> {
  let read = 0;
  for (;;) {
    const response = await fetch(`${url}?follow=false&startIndex=${read}`);
    if (!response.ok) return { status: response.status, body: await response.json(), read };
    const text = await response.text().catch(() => "");
    const lines = text.split("\n").filter((line) => line !== "").length;
    if (lines === 0) throw new Error(`The stream is over after ${read} events.`);
    read += lines;
  }
}
