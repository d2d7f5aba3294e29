import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { envFilesOf, resolveEnv } from "./env-files.ts";

let root: string;
let member: string;

beforeAll(() => {
  root = mkdtempSync(join(tmpdir(), "env-"));
  member = join(root, "agents/a");
  mkdirSync(member, { recursive: true });
  const names = ["A", "B", "C", "D", "E"];
  // Each file sets one variable less than the one that is weaker.
  envFilesOf(member, root).forEach((path, index) => {
    const lines = names.slice(index).map((name) => `${name}="file ${index}" # a comment`);
    writeFileSync(path, lines.join("\n"));
  });
});
afterAll(() => rmSync(root, { recursive: true }));

describe("resolveEnv", () => {
  it("lets the process win over the member, the member over the workspace, .local over the plain file", () => {
    const env = resolveEnv(envFilesOf(member, root), { E: "process" });
    expect(env).toEqual({ A: "file 0", B: "file 1", C: "file 2", D: "file 3", E: "process" });
  });

  it("needs no file, and reads each once outside a workspace", () => {
    expect(resolveEnv(envFilesOf(join(root, "nowhere"), undefined), { X: "" })).toEqual({ X: "" });
    expect(envFilesOf(member, member)).toHaveLength(2);
  });

  it("says when a file can not be read", () => {
    mkdirSync(join(root, "agents/b/.env"), { recursive: true });
    expect(() => resolveEnv(envFilesOf(join(root, "agents/b"), root), {})).toThrow(
      expect.objectContaining({ code: "CONFIG_INVALID" }),
    );
  });
});
