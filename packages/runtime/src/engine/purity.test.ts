import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { createContext, runInContext } from "node:vm";
import { build } from "esbuild";
import { expect, test } from "vitest";

const FOLDER = import.meta.dirname;
const sources = readdirSync(FOLDER).filter((name) => name.endsWith(".ts") && !/\.(test|fixture)\.ts$/.test(name));

async function bundle(): Promise<string> {
  const { outputFiles } = await build({
    entryPoints: [join(FOLDER, "advance.ts")],
    bundle: true,
    write: false,
    format: "iife",
    globalName: "core",
    platform: "neutral",
    target: "es2024",
    // What the core may not reach would fail to resolve here.
    external: [],
  });
  return outputFiles[0]!.text;
}

test("engine/ has no run-time import outside itself", () => {
  expect(sources.length).toBeGreaterThan(10);
  for (const name of sources) {
    const text = readFileSync(join(FOLDER, name), "utf8");
    for (const [statement, specifier] of text.matchAll(/^(?:import|export)\b[^;]*?from "([^"]+)";/gms)) {
      if (specifier!.startsWith("./")) continue;
      expect(statement, `${name} imports ${specifier} at run time`).toMatch(/^(?:import|export) type /);
    }
    expect(text, `${name} imports dynamically`).not.toMatch(/\bimport\(|\brequire\(/);
  }
});

test("no production module imports a fixture or a test", () => {
  for (const name of sources) expect(readFileSync(join(FOLDER, name), "utf8")).not.toMatch(/\.(?:fixture|test)\.ts"/);
});

test("the core runs a turn in a bare context: no require, no process, no timers, no clock", async () => {
  const context = createContext(Object.create(null), { codeGeneration: { strings: false, wasm: false } });
  runInContext("delete globalThis.console; Date = undefined; Math.random = undefined;", context);
  runInContext(await bundle(), context);
  const types = runInContext(
    `
    for (const name of ["require", "process", "setTimeout", "queueMicrotask", "fetch", "TextEncoder", "Buffer", "structuredClone", "crypto"])
      if (name in globalThis) throw new Error(name + " is there");
    const principal = { authenticator: "a", principalId: "b", principalType: "user", attributes: {} };
    const around = { sessionId: "s", modelId: "m", eveVersion: "0", now: 0, base: "/b", newSessionId: () => "child", random: () => "000000" };
    const usage = { inputTokens: 1, outputTokens: 1, cacheReadTokens: 0, cacheWriteTokens: 0 };
    const says = (text, calls) => ({ kind: "model.responded", text, reasoning: "", finishReason: "stop", calls, usage });
    const first = { deliveryId: "d", parts: [{ type: "text", text: "hi" }], principal, policy: "steer" };
    let state;
    const types = [];
    for (const input of [
      { kind: "open", nodeId: "root", agentName: "x", origin: { kind: "root" }, initiator: principal, first },
      says("", [{ callId: "c", name: "worker", input: { message: "go" }, target: { kind: "local", nodeId: "n", description: "" } }]),
      says("wait", []),
      { kind: "child.settled", callIds: ["c"], status: "completed", output: "é<😀" },
      says("bye", []),
    ]) {
      const made = core.advance(state, input, around);
      state = made.state;
      types.push(...made.entries.map((entry) => entry.type));
    }
    JSON.stringify(types)`,
    context,
  ) as string;
  expect(JSON.parse(types)).toEqual(
    expect.arrayContaining(["turn.waiting", "task.settled", "results.shown", "turn.completed"]),
  );
  expect(JSON.parse(types).at(-1)).toBe("session.waiting");
});
