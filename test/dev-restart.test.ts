import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { replyOf } from "./support/check-stream.ts";
import { converse, eventsOf, ofType, say } from "./support/converse.ts";
import { createAuthoredWorkspace, runEve, type AuthoredWorkspace, type EveProcess } from "./support/dev-member.ts";
import { followEvents } from "./support/event-reader.ts";
import { keepCalling } from "./support/keep-calling.ts";
import type { Env } from "./support/member.ts";
import { postJson } from "./support/post-json.ts";
import { until } from "./support/until.ts";

// The serving process is replaced on purpose: after many builds, when it has grown large, for other variables. Seen
// from outside, by callers that never stop.

let cleanup: AsyncDisposableStack;
afterEach(() => cleanup.disposeAsync());

const tool = (options: string, body: string): string => `
import { appendFileSync, existsSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import { defineTool } from "eve/tools";
import { z } from "zod";

export default defineTool({ description: "Works.", inputSchema: z.object({}), ${options} execute: async (_, ctx) => { ${body} } });
`;

/** Waits until the file is there, and notes every time that it begins. */
const hold = (options = ""): string =>
  tool(
    options,
    `appendFileSync(process.env.TEST_JOURNAL!, ctx.toolName + " " + ctx.idempotencyKey + " " + process.pid + "\\n");
     while (!existsSync(process.env.TEST_GATE!)) await delay(10);
     return { held: true, by: process.pid };`,
  );

const version = (value: string): string =>
  tool("", `return { version: "${value}", color: process.env.TEST_COLOR ?? "none" };`);
const VERSION = "agents/worker/agent/tools/version.ts";

/** Not where definitions are only read. */
const CRASH = `
if (process.argv[1]!.includes("serve-dev")) {
  const note = (what: string) => appendFileSync(process.env.TEST_JOURNAL + ".lives", what + " " + Date.now() + "\\n");
  note("begins");
  process.on("exit", () => note("ends"));
  setTimeout(() => { throw new Error("no luck"); }, 100);
}
`;

interface Run {
  readonly workspace: AuthoredWorkspace;
  readonly dev: EveProcess;
  /** What `hold` and `once` noted: tool, key, pid. */
  journal(): { readonly tool: string; readonly key: string; readonly pid: number }[];
  openGate(): void;
  /** Saves another version, and waits until it is in use. */
  save(value: string): Promise<void>;
}

async function run(env: Env): Promise<Run> {
  cleanup = new AsyncDisposableStack();
  const workspace = cleanup.use(
    createAuthoredWorkspace({
      "agents/worker/agent/agent.ts": `import { defineAgent } from "eve";\nexport default defineAgent({});`,
      "agents/worker/agent/tools/hold.ts": hold(),
      "agents/worker/agent/tools/once.ts": hold(`onInterrupt: "fail",`),
      "agents/worker/agent/tools/grow.ts": tool(
        "",
        `(globalThis as { grown?: unknown }).grown = Buffer.alloc(500_000_000, 1); return {};`,
      ),
      "agents/worker/agent/tools/spin.ts": tool("", `console.log("spins"); for (;;);`),
      [VERSION]: version("one"),
    }),
  );
  const journal = join(workspace.root, "journal");
  const gate = join(workspace.root, "gate");
  const dev = cleanup.use(
    await runEve(workspace, "worker", ["dev"], { TEST_JOURNAL: journal, TEST_GATE: gate, ...env }),
  );
  await dev.untilLogged(/worker ready/);
  return {
    workspace,
    dev,
    journal: () =>
      (existsSync(journal) ? readFileSync(journal, "utf8") : "")
        .split("\n")
        .filter((line) => line !== "")
        .map((line) => {
          const [name, key, pid] = line.split(" ");
          return { tool: name!, key: key!, pid: Number(pid) };
        }),
    openGate: () => writeFileSync(gate, ""),
    save: async (value) => {
      const from = dev.log.length;
      workspace.write(VERSION, version(value));
      await dev.untilLogged(/worker updated/, from);
    },
  };
}

/** Begins a turn that uses a tool which holds, and waits until it holds. */
async function begin({ dev, journal }: Run, name: string): Promise<string> {
  const { body } = await postJson(`${dev.api}/session`, { message: `Use ${name}` });
  await until(`${name} runs`, () => journal().some((entry) => entry.tool === name));
  return String(body.sessionId);
}

async function untilEnded({ dev }: Run, sessionId: string): Promise<string> {
  await using reader = followEvents(`${dev.api}/session/${sessionId}/stream`);
  await reader.untilEvent("the end of the turn", ({ event }) => event.type === "session.waiting", {
    timeoutMs: 20_000,
  });
  return replyOf(await eventsOf(dev.api, sessionId));
}

async function untilReplaced({ dev }: Run, pid: number): Promise<number> {
  return until("another process serves", () => (dev.servingPid === pid ? undefined : dev.servingPid), {
    timeoutMs: 20_000,
  });
}

async function attemptsOf({ dev }: Run, sessionId: string): Promise<number[]> {
  return ofType(await eventsOf(dev.api, sessionId), "step.started").map(({ data }) => data.attempt);
}

test("after so many builds another process takes over, once what runs has ended; nobody is refused", async () => {
  const it = await run({ EVE_DEV_MAX_SWAPS: "2" });
  const { dev } = it;
  const pid = dev.servingPid;
  const parked = await converse(dev.api, "Use version");
  const held = await begin(it, "hold");
  const callers = keepCalling(dev.api);

  await it.save("two");
  const from = dev.log.length;
  await it.save("three");
  await dev.untilLogged(
    /worker starts again .* no model and no tool works, .* 60 s: it has taken up 2 builds\.\n/,
    from,
  );
  // In the meantime it works as ever, also on another build.
  await it.save("four");
  await say(dev.api, parked, "Use version");
  expect(replyOf(await eventsOf(dev.api, parked))).toContain("version: four");
  expect(dev.servingPid).toBe(pid);

  it.openGate();
  expect(await untilEnded(it, held)).toContain(`hold: held: true, by: ${pid}`);
  const next = await untilReplaced(it, pid);
  await say(dev.api, parked, "Use version");
  expect(replyOf(await eventsOf(dev.api, parked))).toContain("version: four");
  // It ran once, and no model call was made twice.
  expect(it.journal()).toEqual([{ tool: "hold", key: expect.any(String), pid }]);
  expect(await attemptsOf(it, held)).toEqual([1, 1]);

  // The next one counts anew.
  await it.save("five");
  expect(dev.servingPid).toBe(next);
  expect(await callers.stop()).toEqual({ refused: [], answered: expect.any(Number) });
});

test("a process that has grown too large is replaced after the next build", async () => {
  const it = await run({ EVE_DEV_MAX_MEMORY_MB: "450" });
  const { dev } = it;
  const pid = dev.servingPid;
  const parked = await converse(dev.api, "Use version");
  await it.save("two");
  expect(dev.servingPid).toBe(pid);

  await converse(dev.api, "Use grow");
  const callers = keepCalling(dev.api);
  const from = dev.log.length;
  await it.save("three");
  await dev.untilLogged(/worker starts again: it uses \d+ MB of memory\.\n/, from);
  const next = await untilReplaced(it, pid);
  await say(dev.api, parked, "Use version");
  expect(replyOf(await eventsOf(dev.api, parked))).toContain("version: three");

  await it.save("four");
  expect(dev.servingPid).toBe(next);
  expect(await callers.stop()).toEqual({ refused: [], answered: expect.any(Number) });
});

test("what still runs when the time is up is interrupted as by a crash: it runs again, or says that nobody knows", async () => {
  const it = await run({ EVE_DEV_MAX_SWAPS: "1", EVE_DEV_PATIENCE_SECONDS: "1" });
  const { dev } = it;
  const pid = dev.servingPid;
  const [held, once] = [await begin(it, "hold"), await begin(it, "once")];
  const callers = keepCalling(dev.api);
  await it.save("two");
  const next = await untilReplaced(it, pid);

  expect(await untilEnded(it, once)).toContain("TOOL_INTERRUPTED");
  await until("hold runs again", () => it.journal().length === 3);
  it.openGate();
  expect(await untilEnded(it, held)).toContain(`hold: held: true, by: ${next}`);
  const [first, , second] = it.journal();
  expect(first).toEqual({ tool: "hold", key: second!.key, pid });
  expect(second).toEqual({ tool: "hold", key: first!.key, pid: next });
  expect(await callers.stop()).toEqual({ refused: [], answered: expect.any(Number) });
});

test("other variables wait for what runs, and what is saved meanwhile comes with them", async () => {
  const it = await run({});
  const { dev, workspace } = it;
  const pid = dev.servingPid;
  const held = await begin(it, "hold");
  const callers = keepCalling(dev.api);
  let from = dev.log.length;
  workspace.write("agents/worker/.env.local", "TEST_COLOR=red\n");
  await dev.untilLogged(/worker starts again .* no model and no tool works, .*: its variables changed\.\n/, from);
  workspace.write(VERSION, version("two"));
  workspace.write("agents/worker/agent/tools/broken.ts", "export default {{");
  await dev.untilLogged(/agents\/worker does not build\./, from);
  from = dev.log.length;
  workspace.remove("agents/worker/agent/tools/broken.ts");
  expect(dev.servingPid).toBe(pid);

  it.openGate();
  expect(await untilEnded(it, held)).toContain(`hold: held: true, by: ${pid}`);
  await untilReplaced(it, pid);
  await dev.untilLogged(/worker builds again, updated in/, from);
  const sessionId = await converse(dev.api, "Use version");
  expect(replyOf(await eventsOf(dev.api, sessionId))).toContain("version: two, color: red");
  expect(it.journal()).toHaveLength(1);
  expect((await callers.stop()).refused.filter((how) => !how.endsWith("503"))).toEqual([]);
});

test("a process that is caught in a loop is ended when the time is up", async () => {
  const it = await run({ EVE_DEV_PATIENCE_SECONDS: "1" });
  const { dev, workspace } = it;
  const pid = dev.servingPid;
  await postJson(`${dev.api}/session`, { message: "Use spin" });
  await dev.untilLogged(/spins/);
  workspace.write("agents/worker/agent/tools/spin.ts", tool("", "return { spins: false, ends: true };"));
  await dev.untilLogged(/worker starts again .*: it does not answer\.\n[^]*worker updated/);
  await untilReplaced(it, pid);
  const sessionId = await converse(dev.api, "Use version");
  expect(replyOf(await eventsOf(dev.api, sessionId))).toContain("version: one");
});

test("a member that keeps crashing starts again ever later, says where each time, and is back once repaired", async () => {
  const it = await run({});
  const { dev, workspace } = it;
  const lives = join(workspace.root, "journal.lives");
  const callers = keepCalling(dev.api);
  const from = dev.log.length;
  const bad = version("bad") + CRASH;
  workspace.write(VERSION, bad);
  const times = await until(
    "it has lived six times",
    () => {
      const lines = existsSync(lives) ? readFileSync(lives, "utf8").trim().split("\n") : [];
      return lines.filter((line) => line.startsWith("begins")).length < 6
        ? undefined
        : lines.map((line) => Number(line.split(" ")[1]));
    },
    { timeoutMs: 60_000 },
  );
  // begins, ends, begins, ends, …
  const pauses = [1, 3, 5, 7, 9].map((index) => times[index + 1]! - times[index]!);
  for (const [index, pause] of pauses.entries()) expect(pause).toBeGreaterThanOrEqual(100 * 2 ** index);

  workspace.write(VERSION, version("good"));
  await until(
    "it answers with the repaired tool",
    async () => {
      const { status, body } = await postJson(`${dev.api}/session`, { message: "Use version" });
      return status === 202 && (await untilEnded(it, String(body.sessionId))).includes("version: good");
    },
    { timeoutMs: 20_000 },
  );
  const crashes = dev.log.slice(from).match(/crashed and starts again\. .*$/gm)!;
  const line = bad.slice(0, bad.indexOf("throw")).split("\n").length;
  expect(new Set(crashes)).toEqual(
    new Set([`crashed and starts again. no luck (agents/worker/agent/tools/version.ts:${line})`]),
  );
  expect(crashes.length).toBeGreaterThanOrEqual(5);
  expect(dev.log).not.toMatch(/packages[\\/]runtime|node:internal|\.mjs/);
  expect((await callers.stop()).refused.filter((how) => !how.endsWith(" 503"))).toEqual([]);
});
