import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import { replyOf } from "./support/check-stream.ts";
import { converse, eventsOf, ofType, say } from "./support/converse.ts";
import { postJson } from "./support/post-json.ts";
import { createAuthoredWorkspace, runEve, type AuthoredWorkspace } from "./support/dev-member.ts";

const cleanup = new AsyncDisposableStack();
let workspace: AuthoredWorkspace;

const caller = (requiredEnv: readonly string[]): string => `
import { defineAgent } from "eve";
export default defineAgent({ requiredEnv: ${JSON.stringify(requiredEnv)} });
`;

const stray = (body: string): string => `
import { defineTool } from "eve/tools";
import { z } from "zod";
export default defineTool({ description: "Goes wrong.", inputSchema: z.object({}), execute: () => {
  ${body}
} });
`;

beforeAll(() => {
  workspace = cleanup.use(
    createAuthoredWorkspace({
      "agents/caller/agent/agent.ts": caller(["TEST_ROOT", "TEST_MEMBER"]),
      "agents/caller/agent/subagents/worker.ts": `import { defineWorkspaceAgent } from "eve";\nexport default defineWorkspaceAgent({ name: "worker" });`,
      "agents/caller/agent/tools/show.ts": `
import { defineTool } from "eve/tools";
import { z } from "zod";
const { TEST_ROOT, TEST_MEMBER, TEST_PROCESS } = process.env;
export default defineTool({
  description: "Shows variables.",
  inputSchema: z.object({}),
  execute: () => ({ shown: [TEST_ROOT, TEST_MEMBER, TEST_PROCESS].join(" ") }),
});
`,
      "agents/caller/agent/tools/stray.ts": stray("Promise.reject(new Error('a stray one')); return {};"),
      "agents/caller/agent/tools/explode.ts": stray(
        "setTimeout(() => { throw new Error('boom'); }, 0); return new Promise(() => {});",
      ),
      "agents/worker/agent/agent.ts": `import { defineAgent } from "eve";\nexport default defineAgent({ description: "Works." });`,
    }),
  );
});
afterAll(() => cleanup.disposeAsync());

async function build(): Promise<string> {
  const { stderr } = await promisify(execFile)(process.execPath, ["node_modules/eve/bin/eve.mjs", "build"], {
    cwd: join(workspace.root, "agents/caller"),
    env: { PATH: process.env.PATH },
  });
  return stderr;
}

test("a build needs no variables and names those that are not set", async () => {
  expect(await build()).toMatch(
    /^warning agents\/caller\/agent\/agent\.ts:3 ENV_UNSET Not set here: TEST_ROOT, TEST_MEMBER\./,
  );
});

test("eve start names every variable that is missing, and where to set them", async () => {
  await using refused = await runEve(workspace, "caller", ["start"], { TEST_MEMBER: "" });
  expect(await refused.exit).toBe(1);
  expect(refused.log).toMatch(
    /^ENV_MISSING agents\/caller needs these variables, which are not set: TEST_MEMBER, TEST_ROOT\. — Set them in agents\/caller\/\.env\.local, /,
  );
});

test("eve start serves the build alone, with the variables of its files", async () => {
  workspace.write(".env", "TEST_ROOT=root\nTEST_MEMBER=of-the-root\nTEST_PROCESS=of-the-root\n");
  workspace.write("agents/caller/.env.local", "TEST_MEMBER=member\nTEST_PROCESS=of-the-member\n");
  await using member = await runEve(workspace, "caller", ["start"], { TEST_PROCESS: "process", EVE_DEV: "1" });
  expect((await fetch(`${member.origin}/eve/v1/health`)).status).toBe(200);
  await member.untilLogged(/Everybody who reaches it/);
  expect(member.log).toBe(`caller ready at ${member.api}\nEverybody who reaches it may call it (EVE_DEV=1).\n`);
  const sessionId = await converse(member.api, "Use show");
  expect(replyOf(await eventsOf(member.api, sessionId))).toContain("show: root member process");

  await say(member.api, sessionId, "Ask worker to work");
  const [settled] = ofType(await eventsOf(member.api, sessionId), "task.settled");
  expect(settled!.data).toMatchObject({ status: "failed" });
  expect(JSON.stringify(settled!.data)).toMatch(/NO_TRANSPORT.*EVE_PEER_WORKER_URL/);
});

test("eve start survives a stray rejection, ends with an exception that nobody catches, and says where each came from", async () => {
  await using member = await runEve(workspace, "caller", ["start"], { EVE_DEV: "1", EVE_STORE: "stray" });
  await member.untilLogged(/Everybody who reaches it/);
  let from = member.log.length;
  await converse(member.api, "Use stray");
  expect(member.log.slice(from)).toBe(
    "A promise was rejected and nobody caught it. Error: a stray one\n    at Object.execute (agent/tools/stray.ts:5:18)\n",
  );
  from = member.log.length;
  await postJson(`${member.api}/session`, { message: "Use explode" });
  expect(await member.exit).toBe(1);
  expect(member.log.slice(from)).toBe(
    "An exception that nobody caught ends caller: boom (agents/caller/agent/tools/explode.ts:5)\n",
  );
});

test("eve start says that nobody may call a member that has no channel", async () => {
  await using member = await runEve(workspace, "caller", ["start"]);
  await member.untilLogged(/Nobody may call it: say who may in agents\/caller\/agent\/channels\/eve\.ts /);
  expect((await fetch(`${member.api}/info`)).status).toBe(401);
});

test("eve dev starts the member again when a file of variables changes, and says what is missing", async () => {
  await using member = await runEve(workspace, "caller", ["dev"], { TEST_PROCESS: "process" });
  const sessionId = await converse(member.api, "Use show");
  let from = member.log.length;
  workspace.write("agents/caller/.env.local", "TEST_MEMBER=secret-value\n");
  await member.untilLogged(/caller updated/, from);
  await say(member.api, sessionId, "Use show");
  expect(replyOf(await eventsOf(member.api, sessionId))).toContain("show: root secret-value process");

  from = member.log.length;
  workspace.write("agents/caller/agent/agent.ts", caller(["TEST_ROOT", "TEST_MORE"]));
  await member.untilLogged(/agents\/caller does not load\. ENV_MISSING .*: TEST_MORE\./, from);
  const response = await fetch(`${member.api}/health`);
  expect(response.status).toBe(503);
  expect(await response.json()).toMatchObject({ error: expect.stringContaining("TEST_MORE") });
  await say(member.api, sessionId, "Use show");

  // Also a file that changes while nothing builds.
  workspace.write("agents/caller/agent/tools/broken.ts", "export default {{");
  await member.untilLogged(/agents\/caller does not build\./, from);
  workspace.write("agents/caller/.env", "TEST_MORE=1\n");
  await member.untilLogged(/does not build\.[^]*does not build\./, from);
  workspace.remove("agents/caller/agent/tools/broken.ts");
  await member.untilLogged(/caller builds again, updated/, from);
  expect((await fetch(`${member.api}/health`)).status).toBe(200);
  expect(member.log).not.toContain("secret-value");
});

test("a second supervisor of a store says so once, in one line, and takes over when the first is gone", async () => {
  const first = cleanup.use(await runEve(workspace, "worker", ["dev"]));
  await first.untilLogged(/worker ready/);
  await using second = await runEve(workspace, "worker", ["dev"]);
  await second.untilLogged(/STORE_LOCKED/);
  const response = await fetch(`${second.api}/health`);
  expect(response.status).toBe(503);
  const { error } = (await response.json()) as { error: string };
  expect(error).toMatch(/^agents\/worker does not start\. STORE_LOCKED Another process .*, port \d+\)\. — Stop it/);

  await first[Symbol.asyncDispose]();
  await second.untilLogged(/worker ready/);
  expect((await fetch(`${second.api}/health`)).status).toBe(200);
  expect(second.log.match(/STORE_LOCKED/g)).toHaveLength(1);
  expect(second.log).not.toMatch(/^\s+at /m);
});
