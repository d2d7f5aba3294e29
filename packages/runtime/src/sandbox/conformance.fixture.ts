import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { AgentError } from "../errors.ts";
import type { Sandbox, SandboxProvider, SeedFile } from "../define/define-sandbox.ts";

const BYTES = Uint8Array.from({ length: 256 }, (_, index) => index);
const SEED: readonly SeedFile[] = [
  { path: "data/bytes.bin", content: BYTES, executable: false },
  { path: "hello.sh", content: Buffer.from('echo "hello $1"\n'), executable: true },
];

/** What every provider of sandboxes has to do. `create` makes one as another process would, over the same places. */
export function testSandboxProvider(name: string, create: () => SandboxProvider): void {
  const base = mkdtempSync(join(tmpdir(), "eve-sandbox-"));
  afterAll(() => rmSync(base, { recursive: true, force: true }));
  const provider = create();
  let count = 0;
  const request = () => {
    const id = `ses_${++count}`;
    const folder = join(base, id);
    mkdirSync(folder);
    return { id, folder };
  };
  const make = (seed: readonly SeedFile[] = []): Promise<Sandbox> => provider.create({ ...request(), seed });

  describe(`provider ${name}`, () => {
    test("a new sandbox holds its seed, byte for byte, with what may be run", async () => {
      const sandbox = await make(SEED);
      expect(Uint8Array.from(await sandbox.readFile({ path: "data/bytes.bin" }))).toEqual(BYTES);
      expect(await sandbox.stat({ path: "/workspace/hello.sh" })).toMatchObject({ type: "file", executable: true });
      expect(await sandbox.list({ path: "." })).toEqual([
        { name: "data", type: "folder", size: 0, executable: false },
        { name: "hello.sh", type: "file", size: 16, executable: true },
      ]);
      expect(await sandbox.run({ command: "./hello.sh you" })).toEqual({
        exitCode: 0,
        stdout: "hello you\n",
        stderr: "",
      });
    });

    test("commands and functions see the same files", async () => {
      const sandbox = await make();
      await sandbox.writeTextFile({ path: "a/b/c.txt", content: "été\n" });
      expect(await sandbox.run({ command: "cat a/b/c.txt && printf two > d.txt" })).toEqual({
        exitCode: 0,
        stdout: "été\n",
        stderr: "",
      });
      expect(await sandbox.readTextFile({ path: "d.txt" })).toBe("two");
      await sandbox.writeFile({ path: "d.txt", content: BYTES, executable: true });
      expect(await sandbox.stat({ path: "d.txt" })).toEqual({
        name: "d.txt",
        type: "file",
        size: 256,
        executable: true,
      });
      await sandbox.remove({ path: "a" });
      await sandbox.remove({ path: "a" });
      expect(await sandbox.stat({ path: "a/b/c.txt" })).toBeUndefined();
      expect((await sandbox.list({ path: "/workspace" })).map((entry) => entry.name)).toEqual(["d.txt"]);
    });

    test("a command has its exit code, both streams, a folder and variables", async () => {
      const sandbox = await make(SEED);
      const command = 'pwd | sed "s:.*/::"; echo "$WORD"; echo oops >&2; exit 3';
      expect(await sandbox.run({ command, cwd: "data", env: { WORD: "w" } })).toEqual({
        exitCode: 3,
        stdout: "data\nw\n",
        stderr: "oops\n",
      });
      expect((await sandbox.run({ command: "pwd", cwd: "nowhere" })).exitCode).not.toBe(0);
    });

    test("sees no variable of the member", async () => {
      process.env.EVE_TEST_SECRET = "s3cret";
      const sandbox = await make();
      const { stdout } = await sandbox.run({ command: "env; echo [$EVE_TEST_SECRET]" });
      expect(stdout).not.toContain("s3cret");
      expect(stdout).toContain("AI_AGENT=eve");
    });

    test("a command that never ends is killed", async () => {
      const sandbox = await make();
      const { exitCode, stderr } = await sandbox.run({ command: "while true; do sleep 1; done", timeoutMs: 200 });
      expect(exitCode).toBe(124);
      expect(stderr).toMatch(/^\w+: killed: the command took longer than 0.2 s\n$/);
    });

    test("a signal kills a command, and rejects with its reason", async () => {
      const sandbox = await make();
      const end = new AbortController();
      const running = sandbox.run({ command: "while true; do sleep 1; done", signal: end.signal });
      end.abort(new Error("no longer wanted"));
      await expect(running).rejects.toThrow("no longer wanted");
      await expect(sandbox.run({ command: "true", signal: end.signal })).rejects.toThrow("no longer wanted");
    });

    test("what a command says is cut when it is too long", async () => {
      const sandbox = await make();
      const { stdout } = await sandbox.run({ command: "seq 1 400000" });
      expect(stdout.length).toBeLessThan(1_100_000);
      expect(stdout).toContain(" left out]");
      expect(stdout.slice(-14)).toBe("399999\n400000\n");
    });

    test("is found again as it was left, by another process too", async () => {
      const at = request();
      expect(await provider.resume(at)).toBeUndefined();
      const sandbox = await provider.create({ ...at, seed: SEED });
      await sandbox.run({ command: "echo changed > data/new.txt; rm hello.sh" });
      const again = await create().resume(at);
      expect(again!.id).toBe(at.id);
      expect(await again!.readTextFile({ path: "data/new.txt" })).toBe("changed\n");
      expect(await again!.stat({ path: "hello.sh" })).toBeUndefined();
    });

    test("made again it is new", async () => {
      const at = request();
      await (await provider.create({ ...at, seed: [] })).writeTextFile({ path: "old.txt", content: "" });
      const sandbox = await provider.create({ ...at, seed: SEED });
      expect((await sandbox.list({ path: "." })).map((entry) => entry.name)).toEqual(["data", "hello.sh"]);
    });

    test("two do not see each other", async () => {
      const [one, other] = [await make(), await make()];
      await one.writeTextFile({ path: "mine.txt", content: "mine" });
      expect(await other.stat({ path: "mine.txt" })).toBeUndefined();
      expect(
        await other.stat({ path: `/workspace/../../../${one.id}/files/workspace/mine.txt` }).catch(() => undefined),
      ).toBeUndefined();
    });

    test.each(["../../../../etc/passwd", "/etc/passwd", "/workspace/../../x", "/", "/proc/self/environ", "a\0b"])(
      "%j is outside for every function",
      async (path) => {
        const sandbox = await make();
        const calls = [
          () => sandbox.readFile({ path }),
          () => sandbox.writeTextFile({ path, content: "x" }),
          () => sandbox.list({ path }),
          () => sandbox.stat({ path }),
          () => sandbox.remove({ path }),
          () => sandbox.run({ command: "pwd", cwd: path }),
        ];
        for (const call of calls) {
          const error = await call().then(
            () => undefined,
            (reason: unknown) => reason,
          );
          expect(AgentError.is(error, "SANDBOX_FAILED"), String(error)).toBe(true);
          expect(String(error)).not.toContain(base);
        }
      },
    );

    test("deleted, it is gone with what runs in it; deleting it again is no error", async () => {
      const at = request();
      const sandbox = await provider.create({ ...at, seed: SEED });
      const running = sandbox.run({ command: "while true; do sleep 1; done" }).catch((error: unknown) => error);
      await provider.delete(at);
      await running;
      await provider.delete(at);
      expect(await provider.resume(at)).toBeUndefined();
    });
  });
}
