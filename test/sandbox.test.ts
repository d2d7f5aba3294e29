import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { buildWorkspace, type BuiltWorkspace } from "./support/build-workspace.ts";
import { replyOf } from "./support/check-stream.ts";
import { converse, eventsOf, ofType, say } from "./support/converse.ts";
import { createMember, type Member } from "./support/member.ts";
import { postJson } from "./support/post-json.ts";
import { until } from "./support/until.ts";

interface Call {
  readonly name: string;
  readonly input: unknown;
}

const cleanup = new AsyncDisposableStack();
let workspace: BuiltWorkspace;
let member: Member;

beforeAll(async () => {
  workspace = cleanup.use(await buildWorkspace(["test/fixtures/workshop"]));
  member = cleanup.use(await createMember("workshop", workspace.server("workshop")));
  await member.start();
});
afterAll(() => cleanup.disposeAsync());

const toMessage = (calls: readonly Call[]): string => `do ${JSON.stringify(calls)}`;
const bash = (command: string): Call => ({ name: "bash", input: { command } });
const write = (path: string, content: string): Call => ({ name: "write_file", input: { path, content } });
const read = (path: string): Call => ({ name: "read_file", input: { path } });

/** Has the agent make calls, in a new session or in the one given, and gives its id and what they gave. */
async function act(calls: readonly Call[], sessionId?: string) {
  if (sessionId !== undefined) await say(member.api, sessionId, toMessage(calls));
  const id = sessionId ?? (await converse(member.api, toMessage(calls)));
  const results = JSON.parse(replyOf(await eventsOf(member.api, id))) as unknown[];
  return { sessionId: id, results };
}

describe("the sandbox of a session", () => {
  test("is there again, with every file, after kill -9", async () => {
    const { sessionId, results } = await act([write("notes/day.txt", "The sea rises.\n")]);
    expect(results).toEqual([{ outcome: "created", bytes: 15 }]);
    await act([bash("mkdir -p src && echo 'echo hi' > src/run.sh && chmod +x src/run.sh")], sessionId);
    await member.kill();
    await member.start();
    expect((await act([bash("cat notes/day.txt; ./src/run.sh; ls")], sessionId)).results).toEqual([
      { exitCode: 0, stdout: "The sea rises.\nhi\nbin\nlogo.png\nnotes\nsrc\n", stderr: "" },
    ]);
    // What it had read before, it has to read again.
    const refused = await act([write("notes/day.txt", "The sea falls.\n")], sessionId);
    expect(refused.results).toEqual([expect.stringContaining("Read it with read_file first.")]);
    await act([read("notes/day.txt")], sessionId);
    expect((await act([write("notes/day.txt", "The sea falls.\n")], sessionId)).results).toMatchObject([
      { outcome: "replaced" },
    ]);
  });

  test("killed in the middle of a command, it holds no part of a file, and the command is not run again", async () => {
    const lines = "x".repeat(200_000);
    const command = `for i in {1..100000}; do echo ${"$"}i >> log; echo "${"$"}i ${lines} ${"$"}i" > whole; done`;
    const { body } = await postJson(`${member.api}/session`, { message: toMessage([bash(command)]) });
    const sessionId = String(body.sessionId);
    const files = join(member.store, "sandboxes", sessionId, "files/workspace");
    await until(
      "the command writes",
      () => existsSync(join(files, "log")) && readFileSync(join(files, "log")).length > 20,
    );
    await member.kill();
    // Empty between the two steps of `>`, as with any shell; never a part of what was to be written.
    const whole = readFileSync(join(files, "whole"), "utf8");
    expect(whole).toMatch(/^(?:(\d+) x{200000} \1\n)?$/);
    const written = readFileSync(join(files, "log"), "utf8");
    await member.start();
    await until(
      "the turn has ended",
      async () => ofType(await eventsOf(member.api, sessionId), "turn.completed").length > 0,
    );
    expect(replyOf(await eventsOf(member.api, sessionId))).toContain("TOOL_INTERRUPTED");
    expect((await act([bash("cat log | head -c 100000")], sessionId)).results).toMatchObject([
      { stdout: written.slice(0, 100_000) },
    ]);
  });

  test("is no other session's, and no subagent's", async () => {
    const { sessionId } = await act([write("mine.txt", "mine")]);
    const other = await act([bash("ls; cat /workspace/mine.txt; cat ../*/mine.txt")]);
    expect(other.results).toMatchObject([{ stdout: "bin\nlogo.png\n" }]);
    const message = toMessage([bash("echo theirs > theirs.txt; ls; cat who.txt mine.txt")]);
    await say(member.api, sessionId, `ask ${JSON.stringify([{ name: "helper", input: { message } }])}`);
    expect(JSON.parse(replyOf(await eventsOf(member.api, sessionId)))).toEqual([
      {
        exitCode: 1,
        stdout: "theirs.txt\nwho.txt\nof the helper\n",
        stderr: "cat: mine.txt: No such file or directory\n",
      },
    ]);
    expect((await act([bash("ls")], sessionId)).results).toMatchObject([{ stdout: "bin\nlogo.png\nmine.txt\n" }]);
  });

  test("serves authored tools", async () => {
    const { sessionId } = await act([write("a.txt", "one\n")]);
    expect((await act([{ name: "stamp", input: { path: "a.txt" } }], sessionId)).results).toEqual(["2"]);
    // The tool has changed it since this session read it.
    expect((await act([write("a.txt", "")], sessionId)).results).toEqual([expect.stringContaining("read_file first")]);
  });

  test("a cancelled turn ends its command", async () => {
    const { body } = await postJson(`${member.api}/session`, {
      message: toMessage([bash("while :; do sleep 1; done")]),
    });
    const sessionId = String(body.sessionId);
    await until("the sandbox is there", () => existsSync(join(member.store, "sandboxes", sessionId, "files")));
    expect((await postJson(`${member.api}/session/${sessionId}/cancel`, {})).status).toBe(202);
    await until(
      "the turn is cancelled",
      async () => ofType(await eventsOf(member.api, sessionId), "turn.cancelled").length > 0,
    );
  });

  test("is deleted with its session, and so are those of its subagents", async () => {
    const folders = (): string[] => readdirSync(join(member.store, "sandboxes"));
    const before = folders();
    const message = toMessage([bash("echo theirs > theirs.txt")]);
    const sessionId = await converse(member.api, `ask ${JSON.stringify([{ name: "helper", input: { message } }])}`);
    await act([write("mine.txt", "mine")], sessionId);
    const made = folders().filter((id) => !before.includes(id));
    expect(made).toHaveLength(2);
    const response = await fetch(`${member.api}/session/${sessionId}`, { method: "DELETE" });
    expect(response.ok).toBe(true);
    await until("both are deleted", () => folders().every((id) => !made.includes(id)));
    expect(folders()).toEqual(expect.arrayContaining(before));
  });

  test("has no trace of the process around it", async () => {
    const { results } = await act([bash("env; cat /proc/self/environ /proc/self/cmdline; ls / ~")]);
    expect(JSON.stringify(results)).not.toContain(member.store);
    expect(JSON.stringify(results)).not.toContain("EVE_STORE");
  });
});
