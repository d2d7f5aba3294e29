import { existsSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { replyOf } from "./support/check-stream.ts";
import { converse, eventsOf, ofType, say } from "./support/converse.ts";
import { createAuthoredWorkspace, runEve, type AuthoredWorkspace, type EveProcess } from "./support/dev-member.ts";
import { followEvents } from "./support/event-reader.ts";
import { postJson } from "./support/post-json.ts";
import { stillRunning, processTree } from "./support/process-tree.ts";
import { until } from "./support/until.ts";

const TOOL = "agents/worker/agent/tools/hold.ts";
const cleanup = new AsyncDisposableStack();
let workspace: AuthoredWorkspace;
let dev: EveProcess;
/** While there is no such file, a call of `hold` does not end. */
let gate: string;

/** A tool that waits, and then loads a chunk that was never loaded before. */
const hold = (version: string): string => `
import { existsSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import { defineTool } from "eve/tools";
import { z } from "zod";

export default defineTool({
  description: "Waits until it may go on.",
  inputSchema: z.object({}),
  execute: async () => {
    console.log("hold begins");
    while (!existsSync(process.env.TEST_GATE!)) await delay(10);
    const { late } = await import("../lib/late.ts");
    return { version: "${version}", late };
  },
});
`;

const tool = (name: string, body: string): string => `
import { defineTool } from "eve/tools";
import { z } from "zod";
export default defineTool({ description: "${name}", inputSchema: z.object({}), execute: async () => { ${body} } });
`;

beforeAll(async () => {
  workspace = cleanup.use(
    createAuthoredWorkspace({
      "agents/worker/agent/agent.ts": `import { defineAgent } from "eve";\nexport default defineAgent({ description: "Works." });`,
      "agents/worker/agent/lib/late.ts": `export const late = "was loaded";`,
      [TOOL]: hold("old"),
      "agents/worker/agent/tools/stumble.ts": tool("Stumbles.", `\n\n  throw new Error("over a stone"); `),
      "agents/worker/agent/tools/explode.ts": tool(
        "Explodes.",
        `\n  setTimeout(() => { throw new Error("boom"); }, 0);\n  await new Promise(() => {}); `,
      ),
      "agents/caller/agent/agent.ts": `import { defineAgent } from "eve";\nexport default defineAgent({});`,
      "agents/caller/agent/subagents/worker.ts": `import { defineWorkspaceAgent } from "eve";\nexport default defineWorkspaceAgent({ name: "worker" });`,
    }),
  );
  gate = join(workspace.root, "gate");
  dev = cleanup.use(await runEve(workspace, "worker", ["dev"], { TEST_GATE: gate }));
});
afterAll(() => cleanup.disposeAsync());

test("the port is open before anything is compiled; what comes early waits", async () => {
  expect(dev.log).toBe("");
  expect((await fetch(`${dev.origin}/eve/v1/health`)).status).toBe(200);
  expect((await fetch(`${dev.api}/health`)).status).toBe(200);
  await dev.untilLogged(/^\[worker\] worker ready in \d+\.\d s: http:\/\/127\.0\.0\.1:\d+\/eve\/worker\/v1\n$/);
});

test("a running tool finishes on the code that it started with; what starts later uses the new", async () => {
  const pid = dev.servingPid;
  const { body } = await postJson(`${dev.api}/session`, { message: "Use hold" });
  const sessionId = String(body.sessionId);
  await using reader = followEvents(`${dev.api}/session/${sessionId}/stream`);
  await dev.untilLogged(/hold begins/);

  const from = dev.log.length;
  workspace.write(TOOL, hold("new"));
  await dev.untilLogged(/worker updated in \d+\.\d s/, from);
  writeFileSync(gate, "");
  await reader.untilEvent("the end of the turn", ({ event }) => event.type === "session.waiting");
  expect(replyOf(await eventsOf(dev.api, sessionId))).toContain("hold: version: old, late: was loaded");

  await say(dev.api, sessionId, "Use hold");
  expect(replyOf(await eventsOf(dev.api, sessionId))).toContain("hold: version: new");
  expect(dev.servingPid).toBe(pid);
  // Nobody was disconnected.
  expect(reader.connections).toBe(1);
});

test("while it does not build, only the sessions that it has go on", async () => {
  const sessionId = await converse(dev.api, "Use hold");
  const from = dev.log.length;
  workspace.write("agents/worker/agent/tools/<b>.ts", "export default {{");
  workspace.write("agents/worker/agent/tools/broken.ts", "\nexport default <b>{{");
  await dev.untilLogged(/agents\/worker does not build\.\n/, from);

  const problem = {
    status: 503,
    body: {
      ok: false,
      code: "MEMBER_UNAVAILABLE",
      diagnostics: expect.arrayContaining([
        expect.objectContaining({ path: "agents/worker/agent/tools/broken.ts", line: 2 }),
      ]),
    },
  };
  expect(await postJson(`${dev.api}/session`, { message: "Hello" })).toMatchObject(problem);
  for (const path of ["health", "info"]) expect((await fetch(`${dev.api}/${path}`)).status).toBe(503);
  const page = await fetch(`${dev.api}/info`, { headers: { accept: "text/html" } });
  expect(page.headers.get("content-type")).toBe("text/html; charset=utf-8");
  const html = await page.text();
  expect(html).toContain("agents/worker/agent/tools/broken.ts:2");
  expect(html).toContain("&lt;b&gt;");
  expect(html).not.toContain("<b>.ts");
  await say(dev.api, sessionId, "Use hold");

  workspace.remove("agents/worker/agent/tools/<b>.ts");
  workspace.remove("agents/worker/agent/tools/broken.ts");
  await until("it is back", async () => (await fetch(`${dev.api}/health`)).ok);
  await say(dev.api, sessionId, "Use hold");
});

test("what a tool throws is one line of log that says where", async () => {
  const from = dev.log.length;
  await converse(dev.api, "Use stumble");
  expect(dev.log.slice(from)).toBe(
    "[worker] worker/stumble failed: over a stone (agents/worker/agent/tools/stumble.ts:6)\n",
  );
});

test("a process that was killed or that exploded is replaced, and requests wait for it", async () => {
  const sessionId = await converse(dev.api, "Use hold");
  const before = processTree(dev.servingPid);
  process.kill(dev.servingPid, "SIGKILL");
  await until("it is gone", () => stillRunning(before).length === 0);
  expect((await fetch(`${dev.api}/health`)).status).toBe(200);
  await say(dev.api, sessionId, "Use hold");

  const from = dev.log.length;
  await postJson(`${dev.api}/session`, { message: "Use explode" });
  await dev.untilLogged(
    /^\[worker\] worker crashed and starts again\. boom \(agents\/worker\/agent\/tools\/explode\.ts:5\)$/m,
    from,
  );
  const stack = dev.log.slice(from).split("\n");
  expect(stack[0]).toBe("[worker] Error: boom");
  expect(stack.slice(1).filter((line) => line.includes(" at "))).toEqual([
    expect.stringMatching(/at .*\(?agent\/tools\/explode\.ts:5:\d+\)?$/),
  ]);
  // The tool would explode again whenever it is resumed: this repairs it.
  workspace.write("agents/worker/agent/tools/explode.ts", tool("Explodes.", "return 1;"));
  await until("it is back", async () => (await fetch(`${dev.api}/health`)).ok, { timeoutMs: 20_000 });
});

test("a member alone has no way to its peers, says so, and takes the address that it is given", async () => {
  const calls = async (env: Record<string, string>) => {
    await using caller = await runEve(workspace, "caller", ["dev"], env);
    const sessionId = await converse(caller.api, "Ask worker to use hold");
    const events = await eventsOf(caller.api, sessionId);
    const watched = "Works, and a description is followed.";
    if (env.EVE_PEER_WORKER_URL !== undefined) {
      const from = caller.log.length;
      workspace.write(
        "agents/worker/agent/agent.ts",
        `import { defineAgent } from "eve";\nexport default defineAgent({ description: "${watched}" });`,
      );
      await caller.untilLogged(/caller updated/, from);
    }
    return ofType(events, "task.settled").map(({ data }) => data);
  };
  const [refused] = await calls({});
  expect(refused).toMatchObject({ status: "failed" });
  expect(JSON.stringify(refused)).toContain("NO_TRANSPORT");
  expect(JSON.stringify(refused)).toContain("EVE_PEER_WORKER_URL");
  expect(await calls({ EVE_PEER_WORKER_URL: dev.origin })).toMatchObject([{ status: "completed" }]);
});

test("nothing of it is left when it was stopped", async () => {
  const processes = processTree(dev.child.pid!);
  expect(readdirSync(join(workspace.root, "agents/worker/.eve/dev"))).toEqual([String(dev.child.pid)]);
  dev.child.kill("SIGTERM");
  expect(await dev.exit).toBe(0);
  await until("every process is gone", () => stillRunning(processes).length === 0);
  expect(readdirSync(join(workspace.root, "agents/worker/.eve/dev"))).toEqual([]);
  expect(existsSync(join(workspace.root, "agents/worker/.eve/store/store.db"))).toBe(true);
});
