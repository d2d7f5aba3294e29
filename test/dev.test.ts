import { cpSync, existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { converse, eventsOf, ofType, say } from "./support/converse.ts";
import { copyWorkspace, startDev, type DevProcess } from "./support/dev-workspace.ts";
import { freePort } from "./support/free-port.ts";
import { processTree, stillRunning } from "./support/process-tree.ts";
import { until } from "./support/until.ts";

const STOP_MS = 20_000;

let workspace: ReturnType<typeof copyWorkspace>;
let dev: DevProcess;
let origin: string;

async function start(): Promise<void> {
  const listen = `127.0.0.1:${await freePort()}`;
  dev = startDev(workspace.root, listen);
  origin = (await dev.ready).origin;
  expect(origin).toBe(`http://${listen}`);
}

/** Where the CLI runs. */
function devFolder(): string {
  return (JSON.parse(readFileSync(join(workspace.root, ".eve/dev.json"), "utf8")) as { folder: string }).folder;
}

async function stop(signal: NodeJS.Signals): Promise<{ exit: number | NodeJS.Signals }> {
  const processes = processTree(dev.child.pid!);
  // This program, the CLI, and for each member a supervisor and a server.
  expect(processes.length).toBeGreaterThanOrEqual(6);
  dev.child.kill(signal);
  const exit = await dev.exit;
  await until("every process is gone", () => stillRunning(processes).length === 0, { timeoutMs: STOP_MS });
  return { exit };
}

beforeAll(async () => {
  workspace = copyWorkspace();
  await start();
});

afterAll(async () => {
  if (dev?.child.exitCode === null) dev.child.kill("SIGTERM");
  await dev?.exit;
  workspace?.[Symbol.dispose]();
});

describe("pnpm dev", () => {
  test("serves every member of a fresh clone under the real `vercel dev --local`", async () => {
    const { members } = await dev.ready;
    expect(members).toEqual(
      ["foreman", "research"].map((name) => ({ name, url: `${origin}/eve/${name}/v1`, status: "ready" })),
    );
    for (const { url } of members) {
      const response = await fetch(`${url}/health`);
      expect(response.headers.get("server")).toBe("Vercel");
      expect(await response.json()).toEqual({ ok: true, status: "ready", workflowId: expect.any(String) });
    }
  });

  test.each(["/", "/package.json", "/vercel.ts", "/agents/foreman/agent/agent.ts", "/eve/nobody/v1/health"])(
    "answers 404 for %s",
    async (path) => {
      expect((await fetch(origin + path)).status).toBe(404);
    },
  );

  test("lets foreman call research at its own service", async () => {
    const created = await fetch(`${origin}/eve/foreman/v1/session`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ message: "Ask research what a tide is, and let the reviewer check it" }),
    });
    expect(created.status).toBe(202);
    const { sessionId } = (await created.json()) as { sessionId: string };
    const events = await readUntilWaiting(`${origin}/eve/foreman/v1/session/${sessionId}/stream`);
    const settled = events.filter(({ type }) => type === "task.settled").map(({ data }) => [data.name, data.status]);
    expect(settled.toSorted()).toEqual([
      ["research", "completed"],
      ["reviewer", "completed"],
    ]);
  });

  test("answers 503 with the diagnostics while a member does not build, and goes on once it does", async () => {
    const file = join(workspace.root, "agents/research/agent/tools/broken.ts");
    const health = `${origin}/eve/research/v1/health`;
    writeFileSync(file, "export default {{");
    const broken = await until("research is unavailable", async () => {
      const response = await fetch(health);
      return response.status === 503 ? response : undefined;
    });
    expect(await broken.json()).toMatchObject({
      ok: false,
      code: "MEMBER_UNAVAILABLE",
      diagnostics: [{ code: "SYNTAX_ERROR", path: "agents/research/agent/tools/broken.ts", line: 1 }],
    });
    expect((await fetch(`${origin}/eve/foreman/v1/health`)).status).toBe(200);
    rmSync(file);
    await until("research is back", async () => (await fetch(health)).ok);
  });

  test("starts a member again that was killed", async () => {
    const server = processTree(dev.child.pid!).find(({ command }) => command.includes("serve-dev"))!;
    process.kill(server.pid, "SIGKILL");
    await until("the killed server is gone", () => stillRunning([server]).length === 0);
    await until("foreman is back", async () => (await fetch(`${origin}/eve/foreman/v1/health`)).ok);
  });

  test("starts the CLI again for a new member; sessions go on, also where a `.env` hides the CLI's address", async () => {
    const ask = "Ask research what a tide is";
    const sessionId = await converse(`${origin}/eve/foreman/v1`, ask);
    writeFileSync(join(workspace.root, ".env"), "GREETING=hello\n");
    cpSync(join(workspace.root, "agents/research"), join(workspace.root, "agents/greeter"), {
      recursive: true,
      filter: (path) => basename(path) !== ".eve",
    });
    await until(
      "greeter answers",
      async () => {
        return (await fetch(`${origin}/eve/greeter/v1/health`).catch(() => undefined))?.ok;
      },
      { timeoutMs: STOP_MS },
    );
    expect(dev.log).toContain("greeter is new: vercel dev starts again. Sessions go on.\n");

    await until("foreman is back", async () => (await fetch(`${origin}/eve/foreman/v1/health`)).ok);
    await say(`${origin}/eve/foreman/v1`, sessionId, ask);
    const settled = ofType(await eventsOf(`${origin}/eve/foreman/v1`, sessionId), "task.settled");
    expect(settled.map(({ data }) => data.status)).toEqual(["completed", "completed"]);
  });

  test("refuses to run twice, naming the process in the way", async () => {
    const second = startDev(workspace.root, `127.0.0.1:${await freePort()}`);
    expect(await second.exit).toBe(1);
    expect(second.log).toMatch(/^PORT_IN_USE This workspace already runs: .* pid \d+, port \d+\.\nStop it first: /);
  });

  test("leaves no process and no folder behind on SIGTERM", async () => {
    const folder = devFolder();
    expect(existsSync(join(folder, "vercel.json"))).toBe(true);
    expect(await stop("SIGTERM")).toEqual({ exit: 0 });
    expect(existsSync(folder)).toBe(false);
  });

  test("names the port that is in use", async () => {
    const { createServer } = await import("node:http");
    const other = createServer().listen(0, "127.0.0.1");
    await until("the other server listens", () => other.listening);
    const { port } = other.address() as { port: number };
    const refused = startDev(workspace.root, `127.0.0.1:${port}`);
    expect(await refused.exit).toBe(1);
    expect(refused.log).toContain(`PORT_IN_USE Port ${port} of 127.0.0.1 is in use`);
    expect(refused.log).toContain("--listen 127.0.0.1:");
    other.close();
  });

  test("leaves no process behind when it is killed, and starts again after that", async () => {
    await start();
    const folder = devFolder();
    expect(await stop("SIGKILL")).toEqual({ exit: "SIGKILL" });
    await start();
    expect(existsSync(folder)).toBe(false);
    expect(await stop("SIGINT")).toEqual({ exit: 0 });
  });
});

interface StreamEvent {
  readonly type: string;
  readonly data: { readonly name?: string; readonly status?: string };
}

async function readUntilWaiting(url: string): Promise<StreamEvent[]> {
  const response = await fetch(url, { signal: AbortSignal.timeout(60_000) });
  const events: StreamEvent[] = [];
  const decoder = new TextDecoder();
  let rest = "";
  for await (const chunk of response.body as unknown as AsyncIterable<Uint8Array>) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split("\n");
    rest = lines.pop()!;
    for (const line of lines) if (line.trim() !== "") events.push(JSON.parse(line) as StreamEvent);
    if (events.some(({ type }) => type === "session.waiting")) break;
  }
  return events;
}
