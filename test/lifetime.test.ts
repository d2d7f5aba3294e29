import { execFile } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import { eventsOf, ofType } from "./support/converse.ts";
import { createAuthoredWorkspace, type AuthoredWorkspace } from "./support/dev-member.ts";
import { followEvents } from "./support/event-reader.ts";
import { createMember, type Member } from "./support/member.ts";
import { postJson } from "./support/post-json.ts";
import { readStore } from "./support/read-store.ts";
import { until } from "./support/until.ts";

/** Restarts in the middle of a tool, more than crashes may be. */
const RESTARTS = 5;

const cleanup = new AsyncDisposableStack();
let workspace: AuthoredWorkspace;

/** A tool that says when it begins and waits until its gate is open, or nobody wants it any more. */
const tool = (name: string, onInterrupt: string, isAborted: string): string => `
import { appendFileSync, existsSync } from "node:fs";
import { defineTool } from "eve/tools";
import { z } from "zod";
export default defineTool({
  description: "Waits at a gate.",
  inputSchema: z.object({}),
  onInterrupt: "${onInterrupt}",
  execute: async (_input, { abortSignal }) => {
    appendFileSync(process.env.TEST_JOURNAL, "${name}\\n");
    while (!existsSync(process.env.TEST_GATE) && !(${isAborted})) await new Promise((resolve) => setTimeout(resolve, 10));
    return { passed: true };
  },
});
`;

beforeAll(async () => {
  workspace = cleanup.use(
    createAuthoredWorkspace({
      "agents/keeper/agent/agent.ts": `import { defineAgent } from "eve";\nexport default defineAgent({ description: "Keeps gates." });`,
      "agents/keeper/agent/tools/wait.ts": tool("wait", "retry", "abortSignal.aborted"),
      "agents/keeper/agent/tools/pay.ts": tool("pay", "fail", "false"),
      "agents/mayfly/agent/agent.ts": `import { defineAgent } from "eve";\nexport default defineAgent({ description: "Is short.", limits: { sessionTimeoutMs: 400 } });`,
    }),
  );
  for (const name of ["keeper", "mayfly"]) {
    const cwd = join(workspace.root, "agents", name);
    const env = { PATH: process.env.PATH };
    await promisify(execFile)(process.execPath, ["node_modules/eve/bin/eve.mjs", "build"], { cwd, env });
  }
});
afterAll(() => cleanup.disposeAsync());

const serverOf = (name: string): string => join(workspace.root, "agents", name, ".eve/build/server.mjs");

interface Gate {
  readonly env: Readonly<Record<string, string>>;
  open(): void;
  /** How often a tool has begun. */
  begun(): number;
}

function createGate(name: string): Gate {
  const journal = join(workspace.root, `${name}.journal`);
  return {
    env: { TEST_JOURNAL: journal, TEST_GATE: join(workspace.root, `${name}.gate`) },
    open: () => workspace.write(`${name}.gate`, ""),
    begun: () => (existsSync(journal) ? readFileSync(journal, "utf8").split("\n").length - 1 : 0),
  };
}

async function send(member: Member, message: string): Promise<string> {
  const { status, body } = await postJson(`${member.api}/session`, { message });
  expect(status).toBe(202);
  return String(body.sessionId);
}

async function untilAnswered(member: Member, sessionId: string): Promise<void> {
  await using reader = followEvents(`${member.api}/session/${sessionId}/stream`);
  await reader.untilEvent("session.waiting", ({ event }) => event.type === "session.waiting");
}

test("a tool is run to its end, however often its process was asked to stop", async () => {
  const gate = createGate("wait");
  await using member = await createMember("keeper", serverOf("keeper"), gate.env);
  await member.start();
  const sessionId = await send(member, "Use wait");
  for (let restart = 1; restart <= RESTARTS; restart++) {
    await until(`run ${restart}`, () => gate.begun() === restart);
    await member.stop();
    await member.start();
  }
  gate.open();
  await untilAnswered(member, sessionId);
  const [result] = ofType(await eventsOf(member.api, sessionId), "action.result");
  expect(result!.data).toMatchObject({ status: "completed", result: { output: { passed: true } } });
});

test("a tool that must not run twice may finish when its process is asked to stop", async () => {
  const gate = createGate("pay");
  await using member = await createMember("keeper", serverOf("keeper"), gate.env);
  await member.start();
  const sessionId = await send(member, "Use pay");
  await until("the tool has begun", () => gate.begun() === 1);
  const stopped = member.stop();
  gate.open();
  await stopped;
  await member.start();
  await untilAnswered(member, sessionId);
  const [result] = ofType(await eventsOf(member.api, sessionId), "action.result");
  expect(result!.data).toMatchObject({ status: "completed", result: { output: { passed: true } } });
  expect(gate.begun()).toBe(1);
});

test("a session ends when its time is up, and is gone from the disk when that of its events is", async () => {
  await using member = await createMember("mayfly", serverOf("mayfly"), { EVE_RETENTION_DAYS: "0.00001" });
  await member.start();
  const sessionId = await send(member, "hello");
  await using reader = followEvents(`${member.api}/session/${sessionId}/stream`);
  const { event } = await reader.untilEvent("session.completed", (read) => read.event.type === "session.completed");
  expect(event.data).toMatchObject({ reason: "timeout" });
  await until("its log is gone", () => readStore(member.store).sessions.every(({ log }) => log.length === 0));
  expect(readStore(member.store).sessions.map(({ id }) => id)).toEqual([sessionId]);
});

test("a retention that is no number of days is refused at the start", async () => {
  await using member = await createMember("mayfly", serverOf("mayfly"), { EVE_RETENTION_DAYS: "a week" });
  await member.start();
  expect(member.running()).toBe(false);
  expect(member.log).toMatch(/^CONFIG_INVALID EVE_RETENTION_DAYS: "a week" is no number of days\. — Set it to /);
});
