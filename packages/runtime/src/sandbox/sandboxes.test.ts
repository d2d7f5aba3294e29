import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { defineSandbox, READS, type SandboxProvider } from "../define/define-sandbox.ts";
import type { ManifestNode } from "../protocol/manifest.ts";
import { createRegistry, type Modules, type Registry } from "../registry/registry.ts";
import { localProvider } from "./local-provider.ts";
import type { SandboxSession } from "./sandbox-owner.ts";
import { createTestSandboxes } from "./sandboxes.fixture.ts";

let base: string;
let folder: string;
beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), "eve-sandboxes-"));
  folder = join(base, "sandboxes");
  mkdirSync(join(base, "seeds"));
  writeFileSync(join(base, "seeds/1"), "of the root");
  writeFileSync(join(base, "seeds/2"), "of the helper");
});
afterEach(() => rmSync(base, { recursive: true, force: true }));

const seedOf = (file: string) => [{ path: "who.txt", file, executable: false }];

function toRegistry(root?: SandboxProvider, helper?: SandboxProvider): Registry {
  const node = (id: string, file: string, provider?: SandboxProvider): ManifestNode => ({
    id,
    name: id,
    description: "",
    modelId: "m",
    tools: [],
    subagents: [],
    composition: [],
    sandbox: { seed: seedOf(file), ...(provider && { source: `${id}.ts` }) },
  });
  const nodes = [node("root", "seeds/1", root), node("root/helper", "seeds/2", helper)];
  const modules: Modules = {
    "root.ts": defineSandbox({ ...(root && { provider: root }) }),
    "root/helper.ts": defineSandbox({ ...(helper && { provider: helper }) }),
  };
  return createRegistry({ version: 1, member: "x", buildId: "b", nodes }, modules);
}

function create(registry = toRegistry(), log: (line: string) => void = () => {}) {
  return createTestSandboxes(() => registry, { folder, build: pathToFileURL(`${base}/`) }, log);
}

const root = (sessionId: string): SandboxSession => ({ sessionId, nodeId: "root", origin: { kind: "root" } });
const child = (sessionId: string, nodeId: string, parentSessionId: string): SandboxSession => ({
  sessionId,
  nodeId,
  origin: { kind: "local", parentSessionId, taskId: "t" },
});

describe("whose sandbox a session works in", () => {
  test("§8 a session has its own, and so has a declared subagent, with the seed of its node", async () => {
    const sandboxes = create();
    const one = await sandboxes.of(root("ses_1"));
    const other = await sandboxes.of(root("ses_2"));
    const helper = await sandboxes.of(child("ses_3", "root/helper", "ses_1"));
    expect([one.id, other.id, helper.id]).toEqual(["ses_1", "ses_2", "ses_3"]);
    await one.writeTextFile({ path: "mine.txt", content: "x" });
    for (const sandbox of [other, helper]) {
      expect(await sandbox.stat({ path: "mine.txt" })).toBeUndefined();
      await sandbox.writeTextFile({ path: "theirs.txt", content: "x" });
    }
    expect(await one.stat({ path: "theirs.txt" })).toBeUndefined();
    expect(await one.readTextFile({ path: "who.txt" })).toBe("of the root");
    expect(await helper.readTextFile({ path: "who.txt" })).toBe("of the helper");
  });

  test("§7 a copy of the root works in the sandbox of the session that opened it, both ways at once", async () => {
    const sandboxes = create();
    const copy = await sandboxes.of(child("ses_2", "root", "ses_1"));
    const parent = await sandboxes.of(root("ses_1"));
    await copy.writeTextFile({ path: "from-copy.txt", content: "c" });
    expect(await parent.readTextFile({ path: "from-copy.txt" })).toBe("c");
    await parent.run({ command: "printf p > from-parent.txt" });
    expect(await copy.readTextFile({ path: "from-parent.txt" })).toBe("p");
    expect(readdirSync(folder)).toEqual(["ses_1"]);
    // What one has read the other has not.
    expect(copy[READS]).not.toBe(parent[READS]);
  });

  test("a session that a peer opened has its own", async () => {
    expect((await create().of({ sessionId: "ses_9", nodeId: "root", origin: { kind: "remote" } })).id).toBe("ses_9");
  });
});

test("what is asked for at the same time is made once, and is there again after a restart", async () => {
  const sandboxes = create();
  const [one, same] = await Promise.all([sandboxes.of(root("ses_1")), sandboxes.of(root("ses_1"))]);
  await one.writeTextFile({ path: "who.txt", content: "changed" });
  expect(await same.readTextFile({ path: "who.txt" })).toBe("changed");
  const again = await create().of(root("ses_1"));
  expect(await again.readTextFile({ path: "who.txt" })).toBe("changed");
  expect(again[READS].size).toBe(0);
});

test("what a crash left half made is made anew", async () => {
  mkdirSync(join(folder, "ses_1/drafts/earlier/files/workspace"), { recursive: true });
  writeFileSync(join(folder, "ses_1/drafts/earlier/files/workspace/half.txt"), "");
  writeFileSync(join(folder, "ses_1/sandbox.json"), '{"provider":"embedded"}');
  const sandbox = await create().of(root("ses_1"));
  expect((await sandbox.list({ path: "." })).map(({ name }) => name)).toEqual(["who.txt"]);
  expect(existsSync(join(folder, "ses_1/drafts/earlier"))).toBe(false);
});

test("seed: false makes an empty one", async () => {
  const registry = toRegistry();
  const bare = createRegistry(
    {
      ...registry.manifest,
      nodes: registry.manifest.nodes.map((node) => ({ ...node, sandbox: { source: "s", seed: seedOf("seeds/1") } })),
    },
    { s: defineSandbox({ seed: false }) },
  );
  expect(await (await create(bare).of(root("ses_1"))).list({ path: "." })).toEqual([]);
});

test("an id that could lead out of the folder opens nothing", async () => {
  await expect(create().of(root("../../x"))).rejects.toMatchObject({ code: "SANDBOX_FAILED" });
  await expect(create().remove(["../ses_1"])).rejects.toMatchObject({ code: "SANDBOX_FAILED" });
});

describe("removal", () => {
  test("deletes what a session had, and nothing of the others", async () => {
    const sandboxes = create();
    const gone = await sandboxes.of(root("ses_1"));
    await (await sandboxes.of(root("ses_2"))).writeTextFile({ path: "kept.txt", content: "" });
    const running = gone.run({ command: "while :; do sleep 1; done" }).catch((error: unknown) => String(error));
    await sandboxes.remove(["ses_1", "ses_unknown"]);
    expect(await running).toContain("The sandbox was deleted.");
    expect(readdirSync(folder)).toEqual(["ses_2"]);
    expect(await (await sandboxes.of(root("ses_1"))).list({ path: "." })).toHaveLength(1);
  });

  test("asks the provider that made it, also one of another node", async () => {
    const deleted: string[] = [];
    const local = localProvider();
    const provider: SandboxProvider = { ...local, delete: (at) => (deleted.push(at.id), local.delete(at)) };
    const sandboxes = create(toRegistry(undefined, provider));
    await sandboxes.of(root("ses_1"));
    await sandboxes.of(child("ses_2", "root/helper", "ses_1"));
    await sandboxes.remove(["ses_1", "ses_2"]);
    expect(deleted).toEqual(["ses_2"]);
    expect(readdirSync(folder)).toEqual([]);
  });

  test("tells of a provider that fails, goes on with the others, and may be tried again", async () => {
    let works = false;
    const local = localProvider();
    const provider: SandboxProvider = {
      ...local,
      delete: async (at) => (works ? local.delete(at) : Promise.reject(new Error("no answer"))),
    };
    const sandboxes = create(toRegistry(undefined, provider));
    await sandboxes.of(child("ses_1", "root/helper", "ses_0"));
    await sandboxes.of(root("ses_2"));
    await expect(sandboxes.remove(["ses_1", "ses_2"])).rejects.toThrow("ses_1: no answer");
    expect(readdirSync(folder)).toEqual(["ses_1"]);
    works = true;
    await sandboxes.remove(["ses_1"]);
    expect(readdirSync(folder)).toEqual([]);
  });
});

describe("providers", () => {
  test("one that fails is told to who asked, and is asked again", async () => {
    let works = false;
    const local = localProvider();
    const provider: SandboxProvider = {
      ...local,
      create: async (at) => (works ? local.create(at) : Promise.reject(new Error("no room"))),
    };
    const sandboxes = create(toRegistry(provider));
    await expect(sandboxes.of(root("ses_1"))).rejects.toMatchObject({
      code: "SANDBOX_FAILED",
      message: "The sandbox could not be opened: no room.",
    });
    works = true;
    expect((await sandboxes.of(root("ses_1"))).id).toBe("ses_1");
  });

  test("another one takes over what it finds, and says so", async () => {
    const log: string[] = [];
    await (await create().of(root("ses_1"))).writeTextFile({ path: "kept.txt", content: "k" });
    const sandbox = await create(toRegistry(localProvider()), (line) => log.push(line)).of(root("ses_1"));
    expect((await sandbox.run({ command: "cat kept.txt" })).stdout).toBe("k");
    expect(log).toEqual(['ses_1: its sandbox was made by "embedded", and is now one of "local".']);
  });
});
