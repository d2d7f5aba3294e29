import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { checkCanListen, parseListen } from "./dev-listen.ts";

describe("parseListen", () => {
  it.each([
    [[], "127.0.0.1", 3000, "http://127.0.0.1:3000"],
    [["--listen", "4100"], "127.0.0.1", 4100, "http://127.0.0.1:4100"],
    [["--listen=0.0.0.0:4100"], "0.0.0.0", 4100, "http://127.0.0.1:4100"],
    [["--", "-l", "[::1]:80"], "[::1]", 80, "http://[::1]:80"],
    [["--listen", "localhost:80"], "localhost", 80, "http://localhost:80"],
  ])("%j", (args, host, port, origin) => {
    expect(parseListen(args)).toEqual({ listen: { host, port, origin }, json: false });
  });

  it("reads --json", () => expect(parseListen(["--json"]).json).toBe(true));

  it.each([
    ["--listen", "host"],
    ["--listen", ":80"],
    ["--listen", "0"],
    ["--listen", "65536"],
    ["--listen"],
    ["--prot"],
  ])("refuses %s %s", (...args) => {
    expect(() => parseListen(args)).toThrow(expect.objectContaining({ code: "CONFIG_INVALID" }));
  });
});

describe("checkCanListen", () => {
  let root: string;
  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), "listen-"));
    mkdirSync(join(root, ".vercel"));
  });
  afterEach(() => rmSync(root, { recursive: true }));

  const at = (port: number) => ({ host: "127.0.0.1", port, origin: "" });
  const lock = (pid: number) => writeFileSync(join(root, ".vercel/dev.lock"), JSON.stringify({ pid, port: 3000 }));

  it("names the process that runs this workspace already", async () => {
    lock(process.pid);
    await expect(checkCanListen(root, at(0))).rejects.toMatchObject({
      code: "PORT_IN_USE",
      fix: expect.stringContaining(`kill ${process.pid}`),
    });
  });

  it("passes over the lock of a process that is gone", async () => {
    lock(2 ** 22 + 1);
    await expect(checkCanListen(root, at(0))).resolves.toBeUndefined();
  });

  it("names the port that is in use, and another", async () => {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const { port } = server.address() as { port: number };
    await expect(checkCanListen(root, at(port))).rejects.toMatchObject({
      code: "PORT_IN_USE",
      message: `Port ${port} of 127.0.0.1 is in use by another process.`,
      fix: expect.stringMatching(/pnpm dev --listen 127\.0\.0\.1:\d+$/),
    });
    server.close();
  });

  it("says when the address is none of this machine", async () => {
    await expect(checkCanListen(root, { ...at(0), host: "192.0.2.1" })).rejects.toMatchObject({
      code: "CONFIG_INVALID",
    });
  });
});
