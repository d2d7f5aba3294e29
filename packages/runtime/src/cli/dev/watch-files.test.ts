import { mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { watchFiles } from "./watch-files.ts";

let folder: string;
let stop: () => void;
const onChange = vi.fn();

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "watch-"));
  mkdirSync(join(folder, "agent/tools"), { recursive: true });
  mkdirSync(join(folder, "node_modules/x"), { recursive: true });
  mkdirSync(join(folder, ".eve"));
  write("agent/agent.ts");
  onChange.mockReset();
  stop = watchFiles([folder], onChange);
});

afterEach(() => {
  stop();
  rmSync(folder, { recursive: true });
});

describe("watchFiles", () => {
  it.each([
    ["a file that is written", () => write("agent/agent.ts", "changed")],
    ["a file that is added", () => write("agent/tools/new.ts")],
    ["a file that is removed", () => rmSync(join(folder, "agent/agent.ts"))],
    ["a file that is renamed", () => renameSync(join(folder, "agent/agent.ts"), join(folder, "agent/other.ts"))],
    [
      "a file in a new folder",
      () => {
        mkdirSync(join(folder, "agent/subagents/a/tools"), { recursive: true });
        write("agent/subagents/a/tools/b.ts");
      },
    ],
  ])("reports %s once", async (_, change) => {
    change();
    await vi.waitFor(() => expect(onChange).toHaveBeenCalledTimes(1), { timeout: 5000 });
  });

  it("reports a later change in a folder that it found later", async () => {
    mkdirSync(join(folder, "agent/lib"));
    write("agent/lib/a.ts");
    await vi.waitFor(() => expect(onChange).toHaveBeenCalledTimes(1), { timeout: 5000 });
    write("agent/lib/a.ts", "changed");
    await vi.waitFor(() => expect(onChange).toHaveBeenCalledTimes(2), { timeout: 5000 });
  });

  it("reports nothing that is not authored", async () => {
    for (const path of [".eve/server.mjs", "node_modules/x/index.js", "agent/.agent.ts.swp", "agent/agent.test.ts"]) {
      write(path, "changed");
    }
    write("agent/agent.ts", "changed");
    await vi.waitFor(() => expect(onChange).toHaveBeenCalled(), { timeout: 5000 });
    expect(onChange).toHaveBeenCalledTimes(1);
  });

  it("reports nothing once stopped", async () => {
    const later = vi.fn();
    const stopLater = watchFiles([folder], later);
    stop();
    write("agent/agent.ts", "changed");
    await vi.waitFor(() => expect(later).toHaveBeenCalled(), { timeout: 5000 });
    stopLater();
    expect(onChange).not.toHaveBeenCalled();
  });
});

function write(path: string, text = ""): void {
  writeFileSync(join(folder, path), text);
}

describe("watchFiles of single paths", () => {
  it("sees a file that is replaced, and what is installed, and nothing beside them", async () => {
    const told = vi.fn();
    const stopFiles = watchFiles([join(folder, "agent/.env"), join(folder, "node_modules")], told);
    write("agent/agent.ts", "changed");
    write("node_modules/x/index.js", "changed");
    write("agent/.env", "A=1");
    await vi.waitFor(() => expect(told).toHaveBeenCalledTimes(1), { timeout: 5000 });
    mkdirSync(join(folder, "node_modules/y"));
    await vi.waitFor(() => expect(told).toHaveBeenCalledTimes(2), { timeout: 5000 });
    expect(told).toHaveBeenCalledWith(expect.any(Number));
    stopFiles();
  });

  it("leaves out what is not read", async () => {
    const told = vi.fn();
    const stopRead = watchFiles([folder], told, (path) => path.includes("/tools/"));
    write("agent/agent.ts", "changed");
    await vi.waitFor(() => expect(onChange).toHaveBeenCalledTimes(1), { timeout: 5000 });
    write("agent/tools/a.ts");
    await vi.waitFor(() => expect(told).toHaveBeenCalled(), { timeout: 5000 });
    expect(told).toHaveBeenCalledTimes(1);
    stopRead();
  });
});
