import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeEach, describe, expect, test } from "vitest";
import type { z } from "zod";
import type { SessionSandbox } from "../define/define-sandbox.ts";
import type { ToolContext, ToolDefinition } from "../define/define-tool.ts";
import { createRegistry } from "../registry/registry.ts";
import { bash } from "../tools/bash.ts";
import { glob } from "../tools/glob.ts";
import { grep } from "../tools/grep.ts";
import { readFile } from "../tools/read-file.ts";
import { writeFile } from "../tools/write-file.ts";
import { createTestSandboxes } from "./sandboxes.fixture.ts";

const base = mkdtempSync(join(tmpdir(), "eve-tools-"));
afterAll(() => rmSync(base, { recursive: true, force: true }));

const node = { id: "root", name: "x", description: "", modelId: "m", tools: [], subagents: [], composition: [] };
const registry = createRegistry({ version: 1, member: "x", buildId: "b", nodes: [node] }, {});
const open = () => createTestSandboxes(() => registry, { folder: join(base, "sandboxes") });

let sandboxes: ReturnType<typeof open>;
let sessionId: string;
let sandbox: SessionSandbox;
let count = 0;
beforeEach(async () => {
  sandboxes = open();
  sessionId = `ses_${++count}`;
  sandbox = await sandboxes.of({ sessionId, nodeId: "root", origin: { kind: "root" } });
});

/** A call as the runtime makes it: the input checked, the sandbox the one of the session. */
async function call<Input extends z.ZodType, Output>(
  tool: ToolDefinition<Input, Output>,
  input: z.input<Input>,
  signal: AbortSignal = new AbortController().signal,
): Promise<Output> {
  const context: Pick<ToolContext, "abortSignal" | "getSandbox"> = {
    abortSignal: signal,
    getSandbox: () => sandboxes.of({ sessionId, nodeId: "root", origin: { kind: "root" } }),
  };
  return tool.execute(tool.inputSchema.parse(input), context as ToolContext);
}

describe("bash", () => {
  test("runs in /workspace, whose files stay while variables do not", async () => {
    expect(await call(bash, { command: "pwd; X=1; echo hi > a.txt" })).toEqual({
      exitCode: 0,
      stdout: "/workspace\n",
      stderr: "",
    });
    expect(await call(bash, { command: "cat a.txt; echo [$X]; exit 4" })).toEqual({
      exitCode: 4,
      stdout: "hi\n[]\n",
      stderr: "",
    });
  });

  test("shows the beginning and the end of what is too long, of each stream", async () => {
    const { stdout, stderr } = await call(bash, { command: "seq 1 20000; seq 1 20000 >&2" });
    for (const text of [stdout, stderr]) {
      expect(text.length).toBeLessThan(30_100);
      expect(text).toMatch(/^1\n2\n[\s\S]*\n\[\d+ characters left out\]\n[\s\S]*\n20000\n$/);
    }
  });

  test("is killed when its time is up, and with its call", async () => {
    expect(await call(bash, { command: "while :; do sleep 1; done", timeoutSeconds: 1 })).toMatchObject({
      exitCode: 124,
      stderr: "bash: killed: the command took longer than 1 s\n",
    });
    const end = new AbortController();
    const running = call(bash, { command: "while :; do sleep 1; done" }, end.signal);
    end.abort(new Error("stopped"));
    await expect(running).rejects.toThrow("stopped");
  });

  test("is not run again after a crash", () => {
    expect(bash.onInterrupt).toBe("fail");
    expect([readFile, writeFile, glob, grep].map(({ onInterrupt }) => onInterrupt)).toEqual(Array(4).fill("retry"));
  });
});

describe("read_file", () => {
  const write = (content: string) => sandbox.writeTextFile({ path: "a.txt", content });

  test("reads a whole file, or some lines of it", async () => {
    await write("one\ntwo\nthree\n");
    expect(await call(readFile, { path: "a.txt" })).toEqual({
      content: "one\ntwo\nthree\n",
      startLine: 1,
      endLine: 3,
      totalLines: 3,
    });
    expect(await call(readFile, { path: "/workspace/a.txt", startLine: 2, lineCount: 1 })).toEqual({
      content: "two\n",
      startLine: 2,
      endLine: 2,
      totalLines: 3,
      note: "Go on with startLine 3 of 3.",
    });
    expect(await call(readFile, { path: "a.txt", startLine: 9 })).toMatchObject({
      content: "",
      note: "The file has 3 lines.",
    });
    await write("");
    expect(await call(readFile, { path: "a.txt" })).toEqual({ content: "", startLine: 1, endLine: 0, totalLines: 0 });
  });

  test("says what it left out", async () => {
    await write(`${"x".repeat(5_000)}\n${"line\n".repeat(3_000)}`);
    const first = await call(readFile, { path: "a.txt" });
    expect(first).toMatchObject({ endLine: 2_000, totalLines: 3_001 });
    expect(first.note).toBe("Line 1 is cut: it has 5000 characters. Go on with startLine 2001 of 3001.");
    await write(`${"y".repeat(1_000)}\n`.repeat(100));
    const { content, note } = await call(readFile, { path: "a.txt" });
    expect(content.length).toBeLessThanOrEqual(50_100);
    expect(note).toMatch(/^Go on with startLine \d+ of 100\.$/);
  });

  test.each([
    ["nothing.txt", "There is no file nothing.txt."],
    ["/workspace", "/workspace is a folder."],
    ["/etc/passwd", "permission denied: outside of /workspace and /tmp"],
    ["../../etc/passwd", "permission denied: outside of /workspace and /tmp"],
  ])("refuses %s", async (path, message) => {
    await expect(call(readFile, { path })).rejects.toThrow(message);
  });

  test("refuses what is no text, and what is too large to be read at once", async () => {
    await sandbox.writeFile({ path: "a.bin", content: Uint8Array.of(65, 0, 66) });
    await expect(call(readFile, { path: "a.bin" })).rejects.toThrow("a.bin is no text.");
    await sandbox.writeFile({ path: "big", content: new Uint8Array(17 * 1024 * 1024).fill(65) });
    await expect(call(readFile, { path: "big" })).rejects.toThrow("too many to read at once");
  });
});

describe("write_file", () => {
  const write = (content: string) => call(writeFile, { path: "a/b.txt", content });

  test("creates a file and the folders above it, and writes over what the session has written", async () => {
    expect(await write("é")).toEqual({ outcome: "created", bytes: 2 });
    expect(await write("two")).toEqual({ outcome: "replaced", bytes: 3 });
    expect(await write("two")).toEqual({ outcome: "unchanged", bytes: 3 });
    expect(await sandbox.readTextFile({ path: "a/b.txt" })).toBe("two");
  });

  test("writes over nothing that the session has not read as it is now", async () => {
    await call(bash, { command: "mkdir a; echo one > a/b.txt" });
    await expect(write("two")).rejects.toThrow("Read it with read_file first.");
    await call(readFile, { path: "/workspace/a/../a/b.txt" });
    await call(bash, { command: "echo changed > a/b.txt" });
    await expect(write("two")).rejects.toThrow("has not read what is in it now");
    await call(readFile, { path: "a/b.txt", lineCount: 1 });
    expect(await write("two")).toMatchObject({ outcome: "replaced" });
  });

  test("what another session has read, or this one before a restart, does not count", async () => {
    await call(bash, { command: "mkdir a; echo one > a/b.txt" });
    await call(readFile, { path: "a/b.txt" });
    sandboxes = open();
    await expect(write("two")).rejects.toThrow("Read it with read_file first.");
    // The run of a call that a crash interrupted after it had written: the next one finds its own work.
    expect(await write("one\n")).toMatchObject({ outcome: "unchanged" });
    expect(await write("two")).toMatchObject({ outcome: "replaced" });
  });

  test("leaves permissions as they are, and folders alone", async () => {
    await call(bash, { command: "echo 'echo hi' > run.sh; chmod +x run.sh; mkdir d" });
    await call(readFile, { path: "run.sh" });
    await call(writeFile, { path: "run.sh", content: "echo ho\n" });
    expect(await call(bash, { command: "./run.sh" })).toMatchObject({ stdout: "ho\n" });
    await expect(call(writeFile, { path: "d", content: "" })).rejects.toThrow("d is a folder.");
    await expect(call(writeFile, { path: "/etc/x", content: "" })).rejects.toThrow("outside of /workspace");
  });
});

describe("glob and grep", () => {
  beforeEach(async () => {
    for (const path of ["a.ts", "src/b.ts", "src/deep/c.ts", "src/d.md", "src/.e.ts"]) {
      await sandbox.writeTextFile({ path, content: `name: ${path}\nTODO it's [here]\n` });
    }
  });

  test.each([
    ["*.ts", ["a.ts"]],
    ["**/*.ts", ["a.ts", "src/.e.ts", "src/b.ts", "src/deep/c.ts"]],
    ["src/*.{ts,md}", ["src/.e.ts", "src/b.ts", "src/d.md"]],
    ["src/**", ["src/.e.ts", "src/b.ts", "src/d.md", "src/deep/c.ts"]],
    ["**/[b-c].ts", ["src/b.ts", "src/deep/c.ts"]],
    ["src/?.[!t]*", ["src/d.md"]],
    ["a+(b)|^$", []],
  ])("glob %s", async (pattern, expected) => {
    expect((await call(glob, { pattern })).paths).toEqual(expected.map((path) => `/workspace/${path}`));
  });

  test("glob starts where it is told to, and stays inside", async () => {
    expect((await call(glob, { pattern: "*.ts", path: "src/deep" })).paths).toEqual(["/workspace/src/deep/c.ts"]);
    await expect(call(glob, { pattern: "**", path: "/etc" })).rejects.toThrow("outside of /workspace");
  });

  test("grep finds lines by an expression, whatever is in it", async () => {
    // The embedded shell passes over names that begin with a dot.
    expect((await call(grep, { pattern: "it's \\[here" })).matches.length).toBe(4);
    expect((await call(grep, { pattern: "todo", ignoreCase: true, include: "*.md" })).matches).toEqual([
      expect.stringMatching(/src\/d\.md:2:TODO it's \[here\]$/),
    ]);
    expect(await call(grep, { pattern: "nowhere" })).toEqual({ matches: [] });
    expect(await call(grep, { pattern: "'; echo pwned; '" })).toEqual({ matches: [] });
    await expect(call(grep, { pattern: "(" })).rejects.toThrow("grep failed");
    await expect(call(grep, { pattern: "x", path: "missing" })).rejects.toThrow("There is no missing.");
  });
});
