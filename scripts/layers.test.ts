import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";

const ROOT = join(import.meta.dirname, "..");
const SRC = "packages/runtime/src";

let copy: string;

beforeEach(() => {
  copy = mkdtempSync(join(tmpdir(), "layers-"));
  for (const file of [".dependency-cruiser.mjs", "tsconfig.base.json", "package.json"])
    cpSync(join(ROOT, file), join(copy, file));
  symlinkSync(join(ROOT, "node_modules"), join(copy, "node_modules"));
  write("errors.ts", "export const code = 1;");
  write("protocol/events.ts", "export type Event = string;");
});

afterEach(() => rmSync(copy, { recursive: true }));

describe("the import directions", () => {
  it("let through what they allow", () => {
    write(
      "engine/reduce.ts",
      `import type { Event } from "../protocol/events.ts"; export const reduce = (event: Event) => event;`,
    );
    write(
      "http/app.ts",
      `import { reduce } from "../engine/reduce.ts"; import { code } from "../errors.ts"; export const app = [reduce, code];`,
    );
    write("http/app.test.ts", `import { compile } from "../compile/compile.ts"; compile();`);
    write("compile/compile.ts", `export const compile = () => {};`);
    expect(violations()).toEqual([]);
  });

  it.each([
    ["engine-is-pure", "engine/reduce.ts", `import { code } from "../errors.ts"; export const x = code;`],
    [
      "engine-is-pure",
      "engine/clock.ts",
      `import { performance } from "node:perf_hooks"; export const x = performance;`,
    ],
    ["layer-engine", "engine/reduce.ts", `import type { Host } from "../host/host.ts"; export type X = Host;`],
    ["layer-host", "host/store.ts", `import { app } from "../http/app.ts"; export const x = app;`],
    ["layer-http", "http/app.ts", `import { compile } from "../compile/compile.ts"; export const x = compile;`],
    ["layer-define", "define/define.ts", `import { find } from "../discover/find.ts"; export const x = find;`],
    ["no-compiler-at-run-time", "host/store.ts", `import { step } from "../registry/step.ts"; export const x = step;`],
    [
      "protocol-is-the-contract",
      "protocol/wire.ts",
      `import { find } from "../discover/find.ts"; export const x = find;`,
    ],
    ["layer-unknown", "utils/x.ts", `import { code } from "../errors.ts"; export const x = code;`],
    ["no-tests-in-code", "http/app.ts", `import "./app.test.ts"; export {};`],
    ["not-resolved", "http/app.ts", `import "./nowhere.ts"; export {};`],
    ["no-cycle", "host/a.ts", `import { b } from "./b.ts"; export const a = () => b;`],
  ])("report %s for %s", (rule, path, source) => {
    write("host/host.ts", "export type Host = string;");
    write("host/b.ts", `import { a } from "./a.ts"; export const b = () => a;`);
    write("host/a.ts", "export const a = 1;");
    write("http/app.ts", "export const app = 1;");
    write("http/app.test.ts", "export {};");
    write("compile/compile.ts", "export const compile = 1;");
    write("discover/find.ts", "export const find = 1;");
    write("registry/step.ts", `import { find } from "../discover/find.ts"; export const step = find;`);
    write(path, source);
    expect(violations()).toContainEqual({ rule, from: `${SRC}/${path}` });
  });
});

function violations(): { rule: string; from: string }[] {
  const bin = join(ROOT, "node_modules/dependency-cruiser/bin/dependency-cruiser.mjs");
  const args = [bin, "--config", ".dependency-cruiser.mjs", "--output-type", "json", SRC];
  const { stdout, stderr } = spawnSync(process.execPath, args, { cwd: copy, encoding: "utf8", maxBuffer: 64 << 20 });
  if (stdout === "") throw new Error(stderr);
  const { summary } = JSON.parse(stdout) as { summary: { violations: { from: string; rule: { name: string } }[] } };
  return summary.violations.map(({ from, rule }) => ({ rule: rule.name, from }));
}

function write(path: string, source: string): void {
  mkdirSync(dirname(join(copy, SRC, path)), { recursive: true });
  writeFileSync(join(copy, SRC, path), source);
}
