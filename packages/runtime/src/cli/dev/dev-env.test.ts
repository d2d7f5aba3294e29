import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createDevEnv } from "./dev-env.ts";

let root: string;
let member: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "dev-env-"));
  member = join(root, "agents/a");
  mkdirSync(member, { recursive: true });
});
afterEach(() => rmSync(root, { recursive: true }));

describe("createDevEnv", () => {
  it("follows the files", () => {
    writeFileSync(join(root, ".env"), "A=1\nB=1\n");
    const env: NodeJS.ProcessEnv = { B: "process" };
    const dev = createDevEnv(member, root, env);
    expect(dev.refresh()).toBe(true);
    expect(env).toEqual({ A: "1", B: "process" });
    expect(dev.refresh()).toBe(false);
    writeFileSync(join(root, ".env"), "C=1\n");
    expect(dev.refresh()).toBe(true);
    expect(env).toEqual({ B: "process", C: "1" });
  });

  it("knows what the platform's CLI took from the root's files", () => {
    writeFileSync(join(root, ".env"), "A=root\nB=root\n");
    writeFileSync(join(member, ".env"), "A=member\n");
    const env: NodeJS.ProcessEnv = { __VERCEL_DEV_RUNNING: "1", A: "root", B: "process" };
    createDevEnv(member, root, env).refresh();
    expect(env).toEqual({ __VERCEL_DEV_RUNNING: "1", A: "member", B: "process" });
  });
});
