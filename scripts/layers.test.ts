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
  for (const file of [".dependency-cruiser.mjs", "tsconfig.base.json", "package.json"]) {
    cpSync(join(ROOT, file), join(copy, file));
  }
  mkdirSync(join(copy, "packages/runtime"), { recursive: true });
  for (const link of ["node_modules", "packages/runtime/node_modules"]) symlinkSync(join(ROOT, link), join(copy, link));
});

afterEach(() => rmSync(copy, { recursive: true }));

describe("the import directions", () => {
  it("let through what they allow", () => {
    write({
      "errors.ts": "export const code = 1;",
      "protocol/events.ts": "export type Event = string;",
      "engine/reduce.ts": `import type { Event } from "../protocol/events.ts"; export const reduce = (e: Event) => e;`,
      "http/app.ts": `import { reduce } from "../engine/reduce.ts"; import { code } from "../errors.ts"; export { reduce, code };`,
      "http/app.test.ts": `import { compile } from "../compile/compile.ts"; compile();`,
      "compile/compile.ts": "export const compile = () => {};",
    });
    expect(violations()).toEqual([]);
  });

  it("report every rule that is broken", () => {
    write({
      "errors.ts": "export const code = 1;",
      "host/host.ts": "export type Host = string;",
      "host/b.ts": `import { a } from "./a.ts"; export const b = () => a;`,
      "http/clean.ts": "export const app = 1;",
      "http/app.test.ts": "export {};",
      "compile/compile.ts": "export const compile = 1;",
      "discover/find.ts": "export const find = 1;",
    });
    const broken = {
      "engine/value.ts": ["engine-is-pure", `import { code } from "../errors.ts"; export const x = code;`],
      "engine/clock.ts": [
        "engine-is-pure",
        `import { performance } from "node:perf_hooks"; export const x = performance;`,
      ],
      "engine/type.ts": ["layer-engine", `import type { Host } from "../host/host.ts"; export type X = Host;`],
      "client/zod.ts": ["client-is-alone", `import { code } from "../errors.ts"; export const x = code;`],
      "client/node.ts": ["client-is-alone", `import { once } from "node:events"; export const x = once;`],
      "client/type.ts": ["layer-client", `import type { Host } from "../host/host.ts"; export type X = Host;`],
      "host/up.ts": ["layer-host", `import { app } from "../http/clean.ts"; export const x = app;`],
      "http/build.ts": ["layer-http", `import { compile } from "../compile/compile.ts"; export const x = compile;`],
      "define/define.ts": ["layer-define", `import { find } from "../discover/find.ts"; export const x = find;`],
      "registry/step.ts": ["layer-registry", `import { find } from "../discover/find.ts"; export const step = find;`],
      "host/far.ts": ["no-compiler-at-run-time", `import { step } from "../registry/step.ts"; export const x = step;`],
      "effects/bundle.ts": ["no-compiler-at-run-time", `import { build } from "esbuild"; export const x = build;`],
      "protocol/wire.ts": [
        "protocol-is-the-contract",
        `import { find } from "../discover/find.ts"; export const x = find;`,
      ],
      "utils/x.ts": ["layer-unknown", `import { code } from "../errors.ts"; export const x = code;`],
      "http/tested.ts": ["no-tests-in-code", `import "./app.test.ts"; export {};`],
      "http/lost.ts": ["not-resolved", `import "./nowhere.ts"; export {};`],
      "host/a.ts": ["no-cycle", `import { b } from "./b.ts"; export const a = () => b;`],
    } satisfies Record<string, [rule: string, source: string]>;
    write(Object.fromEntries(Object.entries(broken).map(([path, [, source]]) => [path, source!])));
    const reported = violations();
    for (const [path, [rule]] of Object.entries(broken)) {
      expect(reported).toContainEqual({ rule, from: `${SRC}/${path}` });
    }
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

function write(files: Readonly<Record<string, string>>): void {
  for (const [path, source] of Object.entries(files)) {
    mkdirSync(dirname(join(copy, SRC, path)), { recursive: true });
    writeFileSync(join(copy, SRC, path), source);
  }
}
