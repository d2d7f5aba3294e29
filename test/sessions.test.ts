import { createHash } from "node:crypto";
import { copyFileSync, existsSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { buildWorkspace, type BuiltWorkspace } from "./support/build-workspace.ts";
import { replyOf } from "./support/check-stream.ts";
import { converse, eventsOf, ofType, say } from "./support/converse.ts";
import { createAuthoredWorkspace, runEve } from "./support/dev-member.ts";
import { createKeeper } from "./support/keeper.ts";
import { createMember, type Member } from "./support/member.ts";
import { postJson } from "./support/post-json.ts";
import { isIdle, readStore } from "./support/read-store.ts";
import { runSessions, type CommandRun } from "./support/run-sessions.ts";
import { tempFolder } from "./support/temp-folder.ts";
import { until } from "./support/until.ts";

const ADA = { authorization: `Basic ${btoa("ada:engine")}` };

let workspace: BuiltWorkspace;
beforeAll(async () => void (workspace = await buildWorkspace(["test/fixtures/keeper", "test/fixtures/vault"])));
afterAll(() => workspace?.[Symbol.dispose]());

interface Keeper extends AsyncDisposable {
  readonly member: Member;
  /** From now on what is slow or fails at first does not. */
  open(): void;
  sessions(...args: string[]): Promise<CommandRun>;
  /** What a command prints with `--json`. */
  json(...args: string[]): Promise<any>;
}

async function startKeeper(): Promise<Keeper> {
  const notes = tempFolder();
  const gate = join(notes.path, "gate");
  const member = await createKeeper(workspace, join(notes.path, "journal"), { TEST_GATE: gate });
  await member.start();
  const sessions = (...args: string[]): Promise<CommandRun> =>
    runSessions(join(workspace.root, "agents/keeper"), args, { EVE_STORE: member.store });
  return {
    member,
    open: () => writeFileSync(gate, ""),
    sessions,
    json: async (...args) => {
      const run = await sessions(...args, "--json");
      expect(run).toMatchObject({ code: 0, stderr: "" });
      return JSON.parse(run.stdout);
    },
    [Symbol.asyncDispose]: async () => {
      await member[Symbol.asyncDispose]();
      notes[Symbol.dispose]();
    },
  };
}

/** Opens a session whose turn fails, and waits until it has. */
async function fail({ api }: Member): Promise<string> {
  const { body } = await postJson(`${api}/session`, { message: "Fail at first" });
  const sessionId = String(body.sessionId);
  await until("the turn failed", async () => (await eventsOf(api, sessionId)).at(-1)?.type === "session.waiting");
  expect(ofType(await eventsOf(api, sessionId), "turn.failed")).toHaveLength(1);
  return sessionId;
}

const statusOf = async (url: string, headers: Record<string, string> = {}): Promise<number> =>
  (await fetch(url, { headers })).status;

describe("beside a member that runs", () => {
  test("list and show say what there is, and follow it", async () => {
    await using keeper = await startKeeper();
    const { member, sessions, json } = keeper;
    keeper.open();
    const first = await converse(member.api, "Ask helper");
    const second = await converse(member.api, "Hello \u001b[31mred");
    const [child] = readStore(member.store).sessions.filter(({ node }) => node !== "root");

    const { sessions: listed, more } = await json();
    expect(listed.map(({ sessionId }: { sessionId: string }) => sessionId)).toEqual([second, first]);
    expect([listed[0].message, listed[0].status, more]).toEqual(["Hello \u001b[31mred", "waiting", false]);
    const table = (await sessions("list", "--all")).stdout.trimEnd().split("\n");
    expect(table).toEqual([
      expect.stringMatching(/^id +agent +status +age +events +first message$/),
      expect.stringMatching(new RegExp(`^${second} +keeper +waiting +\\d+ s +\\d+ +Hello \\\\u\\{1b\\}\\[31mred$`)),
      expect.stringMatching(new RegExp(`^${first} +keeper +waiting .* Ask helper$`)),
      expect.stringMatching(new RegExp(`^  ${child!.id} +helper +waiting .* Measure$`)),
    ]);
    expect((await sessions("--limit", "1")).stdout).toMatch(/\n… and older ones: --limit 2\n$/);
    expect((await sessions("--status", "ended")).stdout).toBe("no sessions are ended\n");

    const shown = (await sessions("show", first)).stdout.split("\n");
    expect(shown[0]).toMatch(new RegExp(`^${first}  keeper  waiting  \\d+ events  .* UTC$`));
    const text = shown.map((line) => line.replace(/\d\d:\d\d:\d\d/, "<time>")).join("\n");
    for (const part of [
      /^ *\d+  <time>  message  Ask helper$/m,
      /^ *\d+  <time>  calls    helper \{"message":"Measure"\}$/m,
      new RegExp(`^ *\\d+  <time>  agent    helper ${child!.id}$`, "m"),
      new RegExp(`^    ${child!.id}  helper  waiting`, "m"),
      /^     +\d+  <time>  calls    measure \{"text":"a yard"\}$/m,
      /^     +\d+  <time>  says     Measured 1\.$/m,
      /^ *\d+  <time>  task     helper-\w{6} completed: Measured 1\.$/m,
      /^ *\d+  <time>  says     helper says: Measured 1\.$/m,
    ]) {
      expect(text).toMatch(part);
    }
    const whole = await json("show", first.slice("ses_".length).toLowerCase());
    expect(whole.events).toEqual(await eventsOf(member.api, first));
    expect(whole.children).toMatchObject([{ sessionId: child!.id, parentSessionId: first, children: [] }]);

    await say(member.api, second, "Hello again");
    expect((await sessions("show", second)).stdout).toContain("Hello again");
  });

  test("export is the HTTP export, byte for byte, also after the member has stopped; reading writes nothing", async () => {
    await using keeper = await startKeeper();
    const { member, sessions } = keeper;
    keeper.open();
    const sessionId = await converse(member.api, "Ask helper");
    await until("nothing is left to do", () => isIdle(member.store));
    const http = Buffer.from(await (await fetch(`${member.api}/session/${sessionId}/export`)).arrayBuffer());
    expect(http.toString().match(/\$export/g)).toHaveLength(2);
    using folder = tempFolder();
    const out = join(folder.path, "session.ndjson");
    expect(Buffer.from((await sessions("export", sessionId)).stdout).equals(http)).toBe(true);
    await member.stop();
    const digest = (): string =>
      createHash("sha256")
        .update(readFileSync(join(member.store, "store.db")))
        .digest("hex");
    const before = digest();
    expect(await sessions("export", sessionId, "--out", out)).toEqual({ code: 0, stdout: "", stderr: "" });
    expect(readFileSync(out).equals(http)).toBe(true);
    expect(statSync(out).mode & 0o777).toBe(0o600);
    for (const args of [["--all"], ["show", sessionId, "--full"]]) expect((await sessions(...args)).code).toBe(0);
    expect(digest()).toBe(before);
    const unwritable = await sessions("export", sessionId, "--out", join(out, "below"));
    expect([unwritable.code, unwritable.stderr]).toEqual([1, expect.stringMatching(/^CONFIG_INVALID .*--out/)]);
  });

  test("delete deletes a session with those below it, and asks whether it may", async () => {
    await using keeper = await startKeeper();
    const { member, sessions, json } = keeper;
    keeper.open();
    const sessionId = await converse(member.api, "Ask helper");
    const kept = await converse(member.api, "Hello");
    const [child] = readStore(member.store).sessions.filter(({ node }) => node !== "root");

    const unasked = await sessions("delete", sessionId);
    expect([unasked.code, unasked.stderr]).toEqual([
      2,
      expect.stringMatching(new RegExp(`${sessionId} and 1 below: say --yes`)),
    ]);
    const ofChild = await sessions("delete", kept, child!.id, "--yes");
    expect([ofChild.code, ofChild.stderr]).toEqual([1, expect.stringContaining(`belongs to ${sessionId}`)]);
    const unknown = await sessions("delete", kept, "ses_X", "--yes");
    expect([unknown.code, unknown.stderr]).toEqual([
      1,
      expect.stringMatching(/^NOT_FOUND There is no session "ses_X"/),
    ]);
    const ambiguous = await sessions("delete", "ses_", "--yes");
    expect([ambiguous.code, ambiguous.stderr]).toEqual([1, expect.stringContaining("Write more of the id")]);
    for (const id of [sessionId, kept, child!.id]) {
      expect(await statusOf(`${member.api}/session/${id}/stream?follow=false`)).toBe(200);
    }

    expect(await json("delete", sessionId, sessionId, "--yes")).toEqual({ deleted: [sessionId] });
    for (const id of [sessionId, child!.id]) {
      expect(await statusOf(`${member.api}/session/${id}/stream?follow=false`)).toBe(404);
    }
    await until("its rows are gone", () => readStore(member.store).sessions.length === 1);
    expect((await json()).sessions).toMatchObject([{ sessionId: kept }]);
    expect(member.log).not.toContain("eve_operator_");
  });

  test("retry does a failed turn again, fork goes on from an event", async () => {
    await using keeper = await startKeeper();
    const { member, sessions, json } = keeper;
    const { api } = member;
    const failed = await fail(member);
    expect((await sessions("show", failed)).stdout).toMatch(/failed   turn_0: MODEL_FAILED The provider refuses/);
    keeper.open();
    expect(await json("retry", failed)).toEqual({ sessionId: failed, turnId: "turn_1", running: true });
    const events = await until("the turn was done again", async () => {
      const seen = await eventsOf(api, failed);
      return ofType(seen, "turn.completed").length === 1 ? seen : undefined;
    });
    expect([ofType(events, "turn.started").at(-1)!.data.retryOf, replyOf(events)]).toEqual(["turn_0", "It works now."]);
    const again = await sessions("retry", failed);
    expect([again.code, again.stderr]).toEqual([1, expect.stringMatching(/^NOTHING_TO_RETRY /)]);

    const talk = await converse(api, "Hello first");
    const at = (await eventsOf(api, talk)).length - 1;
    await say(api, talk, "Hello second");
    const { sessionId: fork, forked } = await json("fork", talk, "--at", String(at));
    expect(forked).toBe(talk);
    await say(api, fork, "Recall");
    const recalled = replyOf(await eventsOf(api, fork));
    expect([recalled.includes("Hello first"), recalled.includes("Hello second")]).toEqual([true, false]);
    const beyond = await sessions("fork", talk, "--at", "9999");
    expect([beyond.code, beyond.stderr]).toEqual([1, expect.stringMatching(/^BAD_REQUEST at: .* not 9999/)]);
  });

  test("the operator reaches sessions that no authenticator would give it, and nobody becomes it", async () => {
    using store = tempFolder();
    await using vault = await createMember("vault", workspace.server("vault"));
    await vault.start();
    const sessionId = await converse(vault.api, "The key is under the mat", ADA);
    const other = await converse(vault.api, "Hello", ADA);
    const inVault = (...args: string[]): Promise<CommandRun> =>
      runSessions(workspace.root, [...args, "--store", vault.store]);
    expect((await inVault("show", sessionId)).stdout).toContain("under the mat");
    const { stdout } = await inVault("fork", sessionId, "--json");
    const fork = JSON.parse(stdout).sessionId as string;
    await say(vault.api, fork, "Hello", ADA);
    expect((await inVault("delete", other, "--yes")).stdout).toBe(`deleted ${other}\n`);
    expect(await statusOf(`${vault.api}/session/${other}/stream?follow=false`, ADA)).toBe(404);

    // Another store that says this member has it: its secret is another one.
    await using stranger = await createMember("vault", workspace.server("vault"));
    await stranger.start();
    const theirs = await converse(stranger.api, "Hello", ADA);
    copyFileSync(join(vault.store, "store.lock.json"), join(stranger.store, "store.lock.json"));
    const refused = await runSessions(workspace.root, ["delete", theirs, "--yes", "--store", stranger.store]);
    expect([refused.code, refused.stderr]).toEqual([1, expect.stringMatching(/^UNAUTHORIZED .*operator token/)]);
    expect(refused.stderr).not.toContain("eve_operator_");
    const nowhere = await runSessions(workspace.root, ["--store", store.path]);
    expect([nowhere.code, nowhere.stderr]).toEqual([1, expect.stringMatching(/^NOT_FOUND There is no store in /)]);
    expect(existsSync(join(store.path, "store.db"))).toBe(false);
  });
});

describe("without the member", () => {
  test.each(["stop", "kill"] as const)(
    "delete, retry and fork use the store themselves after a %s, and work begins when the member starts",
    async (how) => {
      await using keeper = await startKeeper();
      const { member, sessions, json } = keeper;
      const { api, store } = member;
      const failed = await fail(member);
      const talk = await converse(api, "Hello");
      const parent = String((await postJson(`${api}/session`, { message: "Ask helper" })).body.sessionId);
      await until("the child works", async () => ofType(await eventsOf(api, parent), "agent.started").length === 1);
      await member[how]();
      keeper.open();

      expect((await json("--all")).sessions).toHaveLength(3);
      expect((await sessions("delete", parent, "--yes")).stdout).toBe(`deleted ${parent}\n`);
      expect(readStore(store).sessions.map(({ id }) => id)).toEqual([failed, talk]);
      expect((await sessions("retry", failed)).stdout).toBe(
        `retry: ${failed} turn_1 (begins when the member starts)\n`,
      );
      const { sessionId: fork, running } = await json("fork", talk);
      expect(running).toBe(false);
      expect((await json("--status", "working")).sessions).toHaveLength(2);
      const nothing = await sessions("retry", talk);
      expect([nothing.code, nothing.stderr]).toEqual([1, expect.stringMatching(/^NOTHING_TO_RETRY /)]);

      await member.start();
      const events = await until("the turn was done again", async () => {
        const seen = await eventsOf(api, failed);
        return ofType(seen, "turn.completed").length === 1 ? seen : undefined;
      });
      expect(replyOf(events)).toBe("It works now.");
      await say(api, fork, "Recall");
      expect(replyOf(await eventsOf(api, fork))).toContain("Hello");
      expect(await statusOf(`${api}/session/${parent}/stream?follow=false`)).toBe(404);
      expect((await json()).sessions.map(({ sessionId }: { sessionId: string }) => sessionId)).toEqual([
        fork,
        talk,
        failed,
      ]);
    },
  );
});

test("eve dev: the command finds the store and the port by itself, from the folder and from the root", async () => {
  using authored = createAuthoredWorkspace({
    "agents/lone/agent/agent.ts": `import { defineAgent } from "eve";\nexport default defineAgent({ description: "Alone." });`,
    "agents/other/agent/agent.ts": `import { defineAgent } from "eve";\nexport default defineAgent({});`,
    "agents/lone/.env": "EVE_STORE=kept\n",
  });
  const unsaid = await runSessions(authored.root, []);
  expect([unsaid.code, unsaid.stderr]).toEqual([2, expect.stringMatching(/--member <name>.* There are lone, other\./)]);
  const none = await runSessions(join(authored.root, "agents/lone"), []);
  expect([none.code, none.stderr]).toEqual([1, expect.stringMatching(/^NOT_FOUND There is no store in kept: /)]);
  await using dev = await runEve(authored, "lone", ["dev"]);
  await dev.untilLogged(/lone ready/);
  const sessionId = await converse(dev.api, "Hello");
  const listed = await runSessions(authored.root, ["--member", "lone"]);
  expect(listed.stdout).toContain(sessionId);
  expect(readdirSync(join(authored.root, "agents/lone"))).toContain("kept");
  const deleted = await runSessions(join(authored.root, "agents/lone"), ["delete", sessionId, "--yes"]);
  expect(deleted).toEqual({ code: 0, stdout: `deleted ${sessionId}\n`, stderr: "" });
  expect(await statusOf(`${dev.api}/session/${sessionId}/stream?follow=false`)).toBe(404);
});
