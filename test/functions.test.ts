import { spawnSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { copyForBuild, runBuild, type BuildRun } from "./support/build-copy.ts";
import { ROOT } from "./support/build-workspace.ts";
import { converse, eventsOf, ofType, typesOf } from "./support/converse.ts";
import { replyOf } from "./support/check-stream.ts";
import { startFunction, type FunctionProcess } from "./support/function-process.ts";
import { postJson } from "./support/post-json.ts";
import { tempFolder } from "./support/temp-folder.ts";

let workspace: ReturnType<typeof copyForBuild>;
let build: BuildRun;

beforeAll(async () => {
  workspace = copyForBuild();
  const seed = join(workspace.root, "agents/research/agent/sandbox/workspace");
  mkdirSync(seed, { recursive: true });
  writeFileSync(join(seed, ".hidden.bin"), Uint8Array.of(0, 255, 10));
  writeFileSync(join(seed, "greet.sh"), "echo greetings\n", { mode: 0o755 });
  build = await runBuild(workspace.root);
  if (!build.result.ok) throw new Error(build.log);
});
afterAll(() => workspace?.[Symbol.dispose]());

describe("pnpm build", () => {
  test("makes one function per member with `vercel build`, offline, and says what is in it", () => {
    expect(build).toMatchObject({ code: 0, result: { ok: true, output: "built" } });
    expect(build.result.functions!.map(({ member, cached }) => [member, cached])).toEqual([
      ["foreman", false],
      ["research", false],
    ]);
    expect(readdirSync(join(workspace.root, ".vercel/output/services")).toSorted()).toEqual(["foreman", "research"]);
    for (const { member, files, bytes } of build.result.functions!) {
      const present = filesOf(member).filter((path) => path !== ".vc-config.json");
      expect(present).toHaveLength(files);
      // A budget: a member's own code and the runtime, nothing of the build. The shell is only read by commands.
      const shell = sizeOf(member, "shell/");
      expect(bytes - shell).toBeLessThan(1_900_000);
      expect(shell).toBeLessThan(1_900_000);
    }
  });

  test("puts into a function only what its member needs", () => {
    for (const member of ["foreman", "research"]) {
      expect(
        filesOf(member).filter(
          (path) =>
            !/^(index\.mjs|manifest\.json|\.vc-config\.json|(?:chunks|shell)\/[^/]+\.mjs|seeds\/[0-9a-f]+)$/.test(path),
        ),
      ).toEqual([]);
    }
    expect(codeOf("research")).toContain("agents/research/agent/tools/look_up.ts");
    expect(codeOf("research")).toContain("/node_modules/minisearch/");
    expect(codeOf("foreman")).not.toContain("agents/research/agent");
    expect(codeOf("foreman")).not.toContain("/node_modules/minisearch/");
    expect(codeOf("foreman")).not.toContain("@hono/node-server");
  });

  test("makes functions that the platform streams from", () => {
    const { getLambdaSupportsStreaming } = createRequire(
      createRequire(join(ROOT, "package.json")).resolve("vercel/package.json"),
    )("@vercel/build-utils/dist/process-serverless/get-lambda-supports-streaming.js");
    const config = JSON.parse(readFileSync(join(folderOf("foreman"), ".vc-config.json"), "utf8"));
    expect(config).toMatchObject({ handler: "index.mjs", launcherType: "Nodejs" });
    expect(getLambdaSupportsStreaming(config, false)).toBe(true);
  });

  test("does nothing when nothing changed", async () => {
    const again = await runBuild(workspace.root);
    expect(again).toMatchObject({ code: 0, result: { ok: true, output: "unchanged" } });
    expect(again.result.functions!.map(({ cached }) => cached)).toEqual([true, true]);
    expect(again.log).not.toContain("Vercel CLI");
    expect(again.result.seconds).toBeLessThan(2);
  });
});

describe("a function alone in an empty folder, on plain Node", () => {
  let research: FunctionProcess;
  let foreman: FunctionProcess;

  beforeAll(async () => {
    research = await startFunction({ name: "research", source: folderOf("research") });
    foreman = await startFunction({
      name: "foreman",
      source: folderOf("foreman"),
      env: { EVE_PEER_RESEARCH_URL: research.origin },
    });
  });
  afterAll(async () => {
    await foreman?.[Symbol.asyncDispose]();
    await research?.[Symbol.asyncDispose]();
  });

  test("answers health, which says that its store is temporary", async () => {
    const response = await fetch(`${foreman.api}/health`);
    expect(await response.json()).toEqual({
      ok: true,
      status: "ready",
      workflowId: expect.stringMatching(/^foreman@/),
      durable: false,
    });
    expect(readdirSync(foreman.temporary)).toEqual([expect.stringMatching(/^eve-foreman-/)]);
    const info = await fetch(`${foreman.api}/info`);
    expect(await info.json()).toMatchObject({ member: "foreman", store: { durable: false } });
  });

  test("streams a session while it runs, up to session.waiting", async () => {
    const { status, body } = await postJson(`${research.api}/session`, { message: "What is a tide?" });
    expect(status).toBe(202);
    const response = await fetch(`${research.api}/session/${String(body.sessionId)}/stream`);
    expect(response.headers.get("content-type")).toContain("application/x-ndjson");
    const seen = new Set<string>();
    // The stream stays open after that: what is read here has come through a response that has not ended.
    for await (const line of linesOf(response)) {
      seen.add((JSON.parse(line) as { type: string }).type);
      if (seen.has("session.waiting")) break;
    }
    expect([...seen]).toEqual(expect.arrayContaining(["session.started", "message.completed", "turn.completed"]));
  });

  test("has the seed of its sandbox and the shell", async () => {
    const sessionId = await converse(research.api, 'Use bash to run "./greet.sh; base64 .hidden.bin; pwd"');
    const [result] = ofType(await eventsOf(research.api, sessionId), "action.result");
    expect(result?.data.result).toMatchObject({
      toolName: "bash",
      output: { exitCode: 0, stdout: "greetings\nAP8K\n/workspace\n", stderr: "" },
    });
  });

  test("calls a local subagent and, at EVE_PEER_RESEARCH_URL, the function of a peer", async () => {
    const sessionId = await converse(foreman.api, "Ask research what a tide is, and let the reviewer check it");
    const events = await eventsOf(foreman.api, sessionId);
    expect(ofType(events, "task.settled").map(({ data }) => [data.name, data.status])).toEqual([
      ["research", "completed"],
      ["reviewer", "completed"],
    ]);
    expect(typesOf(events).at(-1)).toBe("session.waiting");
    expect(replyOf(events)).not.toBe("");
  });

  test("keeps its store in EVE_STORE, where the next process finds it", async () => {
    using folder = tempFolder();
    const options = { name: "research", source: folderOf("research"), env: { EVE_STORE: join(folder.path, "store") } };
    let sessionId: string;
    {
      await using first = await startFunction(options);
      expect(await (await fetch(`${first.api}/health`)).json()).toEqual({
        ok: true,
        status: "ready",
        workflowId: expect.stringMatching(/^research@/),
      });
      sessionId = await converse(first.api, "What is a tide?");
    }
    await using second = await startFunction(options);
    expect(typesOf(await eventsOf(second.api, sessionId))).toContain("turn.completed");
    expect(readdirSync(second.temporary)).toEqual([]);
  });

  test("is loaded without opening a port, a store or anything that keeps it running", () => {
    using folder = tempFolder();
    const entry = join(folderOf("foreman"), "index.mjs");
    const { status, stdout } = spawnSync(
      process.execPath,
      [
        "--input-type=module",
        "-e",
        `const { default: f } = await import(${JSON.stringify(entry)}); console.log(Object.keys(f));`,
      ],
      { cwd: folder.path, env: { TMPDIR: folder.path }, encoding: "utf8", timeout: 10_000 },
    );
    expect({ status, stdout }).toEqual({ status: 0, stdout: "[ 'fetch' ]\n" });
    expect(readdirSync(folder.path)).toEqual([]);
  });
});

function folderOf(member: string): string {
  const { path } = build.result.functions!.find((built) => built.member === member)!;
  return join(workspace.root, path);
}

function filesOf(member: string): string[] {
  return readdirSync(folderOf(member), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(folderOf(member).length + 1))
    .toSorted();
}

function sizeOf(member: string, below: string): number {
  const paths = filesOf(member).filter((path) => path.startsWith(below));
  return paths.reduce((sum, path) => sum + readFileSync(join(folderOf(member), path)).length, 0);
}

function codeOf(member: string): string {
  return filesOf(member)
    .filter((path) => path.endsWith(".mjs"))
    .map((path) => readFileSync(join(folderOf(member), path), "utf8"))
    .join("\n");
}

async function* linesOf(response: Response): AsyncGenerator<string> {
  let rest = "";
  const decoder = new TextDecoder();
  for await (const chunk of response.body as unknown as AsyncIterable<Uint8Array>) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split("\n");
    rest = lines.pop()!;
    yield* lines.filter((line) => line.trim() !== "");
  }
}
