import { request, type OutgoingHttpHeaders } from "node:http";
import { json } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { replyOf } from "./support/check-stream.ts";
import { converse, eventsOf, ofType } from "./support/converse.ts";
import { copyWorkspace } from "./support/dev-workspace.ts";
import { processTree, stillRunning } from "./support/process-tree.ts";
import { until } from "./support/until.ts";
import { startVercelDev, type VercelDev } from "./support/vercel-dev.ts";

// The platform's own command in the workspace itself, without what `pnpm dev` does before it.

const MEMBERS = ["foreman", "research"];
const cleanup = new AsyncDisposableStack();
let dev: VercelDev;
const api = (member: string): string => `${dev.origin}/eve/${member}/v1`;

beforeAll(async () => {
  const { root } = cleanup.use(copyWorkspace());
  dev = cleanup.use(await startVercelDev(root));
  await until(
    "every member answers",
    async () => {
      if (dev.child.exitCode !== null) throw new Error(`vercel dev ended:\n${dev.log}`);
      const answers = await Promise.all(MEMBERS.map((member) => fetch(`${api(member)}/health`).catch(() => undefined)));
      return answers.every((answer) => answer?.ok);
    },
    { timeoutMs: 60_000 },
  );
});
afterAll(() => cleanup.disposeAsync());

describe("plain `vercel dev --local`", () => {
  test.each(MEMBERS)("serves %s", async (member) => {
    const response = await fetch(`${api(member)}/health`);
    expect(response.headers.get("server")).toBe("Vercel");
    expect(await response.json()).toEqual({
      ok: true,
      status: "ready",
      workflowId: expect.stringMatching(new RegExp(`^${member}@`)),
    });
  });

  test.each(["/", "/vercel.ts", "/package.json", "/agents/foreman/agent/agent.ts"])(
    "answers 404 for %s",
    async (path) => {
      expect((await fetch(dev.origin + path)).status).toBe(404);
    },
  );

  test("runs a turn with a tool", async () => {
    const sessionId = await converse(api("foreman"), 'Use count_words on "one two three"');
    expect(replyOf(await eventsOf(api("foreman"), sessionId))).toContain("words: 3");
  });

  test("lets foreman call research, which calls back", async () => {
    const sessionId = await converse(api("foreman"), "Ask research what a tide is");
    const events = await eventsOf(api("foreman"), sessionId);
    expect(ofType(events, "agent.started").map(({ data }) => data.remote?.resolverId)).toEqual([expect.any(String)]);
    expect(ofType(events, "task.settled").map(({ data }) => [data.name, data.status])).toEqual([
      ["research", "completed"],
    ]);
  });

  test.each([
    ["x-forwarded-host", { host: "evil.example" }],
    // What the CLI believes of a caller, it does not make of its own.
    ["x-vercel-deployment-url", { host: "evil.example", "x-forwarded-host": "localhost" }],
    ["origin", { origin: "http://evil.example" }],
  ])("refuses a page that has another name for this machine, told by %s", async (header, headers) => {
    const { status, body } = await get(`${api("foreman")}/info`, headers);
    expect(status).toBe(401);
    expect(body).toMatchObject({ code: "UNAUTHORIZED", error: expect.stringContaining(`its ${header} header says`) });
  });

  test("takes the names that this machine has for itself", async () => {
    for (const host of ["localhost:3000", "foreman.localhost", "127.0.0.1"]) {
      expect(await get(`${api("foreman")}/info`, { host, origin: `http://${host}` })).toMatchObject({ status: 200 });
    }
  });

  test("leaves no process behind on SIGTERM", async () => {
    const processes = processTree(dev.child.pid!);
    // The CLI, and for each member a supervisor and a server.
    expect(processes.length).toBeGreaterThanOrEqual(5);
    dev.child.kill("SIGTERM");
    await dev.exit;
    await until("every process is gone", () => stillRunning(processes).length === 0, { timeoutMs: 20_000 });
  });
});

/** `fetch` sets these headers by itself, as a browser does. */
function get(url: string, headers: OutgoingHttpHeaders): Promise<{ status: number; body: unknown }> {
  return new Promise((resolve, reject) => {
    request(url, { headers }, (response) => {
      json(response).then((body) => resolve({ status: response.statusCode!, body }), reject);
    })
      .on("error", reject)
      .end();
  });
}
