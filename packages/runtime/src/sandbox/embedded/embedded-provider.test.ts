import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeEach, describe, expect, test } from "vitest";
import type { Sandbox } from "../../define/define-sandbox.ts";
import { testSandboxProvider } from "../conformance.fixture.ts";
import { embeddedProvider } from "./embedded-provider.ts";

const shell = new URL("./worker.ts", import.meta.url);

testSandboxProvider("embedded", () => embeddedProvider(() => shell));

describe("a command of the embedded shell", () => {
  const base = mkdtempSync(join(tmpdir(), "eve-embedded-"));
  afterAll(() => rmSync(base, { recursive: true, force: true }));
  const outside = join(base, "secret.txt");
  writeFileSync(outside, "s3cret");
  let folder: string;
  let sandbox: Sandbox;
  let count = 0;
  beforeEach(async () => {
    folder = join(base, `box_${++count}`);
    mkdirSync(folder);
    sandbox = await embeddedProvider(() => shell).create({ id: `box_${count}`, folder, seed: [] });
  });
  const run = (command: string, timeoutMs = 20_000) => sandbox.run({ command, timeoutMs });

  test.each([
    `cat ${outside}`,
    `cat ../../../secret.txt ../../../../../..${outside}`,
    `cd ../../..; cat secret.txt ./${outside}`,
    `ln -s ${outside} /workspace/l; cat /workspace/l`,
    `ln -s / /tmp/r; cat /tmp/r${outside}`,
    `ln ${outside} h; cat h`,
    `cp ${outside} here; cat here`,
    `tar cf t.tar ${outside}; cat t.tar`,
    `source ${outside}; . ${outside}; bash ${outside}`,
    `cat < ${outside}; mapfile -t L < ${outside}; echo "$L"; echo "$(<${outside})"`,
    `find / -name 'secret*' -exec cat {} +; grep -r s3cret /`,
  ])("reads nothing of the machine: %s", async (command) => {
    const { stdout, stderr } = await run(command);
    expect(stdout + stderr).not.toContain("s3cret");
    expect(stdout + stderr).not.toContain(`${folder}/`);
  });

  test("writes nothing on the machine", async () => {
    await run(
      `echo gone > ${outside}; rm -rf ${base} /; mv /workspace ${base}/moved; tee ${outside} < /dev/null; chmod 777 ${outside}`,
    );
    expect(readFileSync(outside, "utf8")).toBe("s3cret");
    expect((await run("echo ok > again; cat again")).stdout).toBe("ok\n");
  });

  test("follows no symbolic link that somebody else put there", async () => {
    symlinkSync(base, join(folder, "files/workspace/up"));
    symlinkSync(outside, join(folder, "files/workspace/file"));
    const { stdout } = await run(
      "cat up/secret.txt file; ls up/; echo x > file; echo x >> up/secret.txt; rm -rf up; cp file here; cat here",
    );
    expect(stdout).not.toContain("s3cret");
    expect(stdout).not.toContain("secret.txt");
    expect(readFileSync(outside, "utf8")).toBe("s3cret");
    await expect(sandbox.readFile({ path: "file" })).rejects.toThrow("symbolic links are not followed");
    await expect(sandbox.writeTextFile({ path: "up/secret.txt", content: "x" })).rejects.toThrow("not followed");
  });

  test("knows nothing of the process around it, and no program or network", async () => {
    const { stdout, stderr } = await run(
      "cat /proc/self/environ /proc/self/cmdline /proc/self/status /proc/1/environ; echo $PPID $$ $UID; hostname; whoami; node -v; curl http://127.0.0.1; git; python3 -c 1; js-exec; sqlite3 a; exec 3<>/dev/tcp/127.0.0.1/80",
    );
    for (const secret of [String(process.pid), process.execPath, execFileSync("hostname").toString().trim()]) {
      if (secret !== "localhost") expect(stdout + stderr).not.toContain(secret);
    }
    for (const name of ["node", "curl", "git", "python3", "js-exec", "sqlite3"])
      expect(stderr).toContain(`${name}: command not found`);
  });

  test.each([
    ["a fork bomb", ":(){ :|:& };:"],
    ["recursion", "f(){ f; }; f"],
    ["a loop that does nothing", "while :; do :; done"],
    ["a loop inside one program", "awk 'BEGIN{while(1){}}'"],
    ["a text that doubles", "x=aaaaaaaa; while :; do x=$x$x; done"],
    ["words that multiply", "echo {1..9}{1..9}{1..9}{1..9}{1..9}{1..9}{1..9}{1..9}{1..9}"],
    ["an array that grows", "while :; do a+=(xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx); done"],
    ["output without end", "while :; do echo xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx; done"],
    ["a pattern that backtracks", "echo aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa! | grep -E '^(a+)+$'; exit 1"],
  ])("ends, whatever it does: %s", async (_, command) => {
    const { exitCode, stdout } = await run(command, 1_500);
    expect(exitCode).not.toBe(0);
    expect(stdout.length).toBeLessThan(1_100_000);
  });

  test("leaves the process free while it computes", async () => {
    let ticks = 0;
    const timer = setInterval(() => ticks++, 10);
    await run("while :; do :; done", 1_000);
    clearInterval(timer);
    expect(ticks).toBeGreaterThan(20);
  });

  test("writes no more than the sandbox holds", async () => {
    const { exitCode, stderr } = await run("seq 1 400000 > a; for i in {1..60}; do cp a b$i || exit 9; done");
    expect(stderr).toMatch(/disk quota of the sandbox exceeded|EDQUOT/);
    expect(exitCode).not.toBe(0);
    const { stdout } = await run("du -sk . | cut -f1");
    expect(Number(stdout)).toBeLessThan(129 * 1024);
  });

  test("an archive that unpacks into too much is refused", async () => {
    const { stderr, exitCode } = await run(
      "seq 1 300000 > a; cat a a a a a a a a > b; gzip b; for i in {1..8}; do cat b.gz >> c.gz; done; gunzip c.gz && wc -c c",
      60_000,
    );
    expect(exitCode).not.toBe(0);
    expect(stderr).not.toBe("");
  });
});
