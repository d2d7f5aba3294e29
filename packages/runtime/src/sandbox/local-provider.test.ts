import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { testSandboxProvider } from "./conformance.fixture.ts";
import { localProvider } from "./local-provider.ts";

testSandboxProvider("local", localProvider);

test("a command ends with the process that started it, however that dies", async () => {
  const folder = mkdtempSync(join(tmpdir(), "eve-local-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const source = `
    import { localProvider } from ${JSON.stringify(new URL("./local-provider.ts", import.meta.url).href)};
    const sandbox = await localProvider().create({ id: "a", folder: ${JSON.stringify(folder)}, seed: [] });
    await sandbox.run({ command: "sleep 300 & echo $! > pid; wait" });
  `;
  const member = spawn(process.execPath, ["--input-type=module", "-e", source], { stdio: "ignore" });
  onTestFinished(() => void member.kill("SIGKILL"));
  const file = join(folder, "files/workspace/pid");
  await vi.waitFor(() => expect(existsSync(file) && readFileSync(file, "utf8")).toMatch(/^\d+\n$/), 10_000);
  const pid = Number(readFileSync(file, "utf8"));
  expect(isRunning(pid)).toBe(true);
  member.kill("SIGKILL");
  await vi.waitFor(() => expect(isRunning(pid)).toBe(false), 10_000);
});

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    // Ended, and waiting for whoever collects orphans.
    return !existsSync(`/proc/${pid}/stat`) || !/\) Z /.test(readFileSync(`/proc/${pid}/stat`, "utf8"));
  } catch {
    return false;
  }
}
