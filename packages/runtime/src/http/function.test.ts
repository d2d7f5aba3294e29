import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { MANIFEST_VERSION } from "../protocol/manifest.ts";
import { createFunction, type AgentFunction } from "./function.ts";

const HEALTH = "https://acme.example/eve/lead/v1/health";

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "function-"));
  vi.stubEnv("TMPDIR", folder);
});

afterEach(() => {
  vi.unstubAllEnvs();
  vi.restoreAllMocks();
  rmSync(folder, { recursive: true });
});

test("nothing is touched before the first request", async () => {
  const lead = create({});
  expect(readdirSync(folder)).toEqual([]);
  await lead.fetch(new Request(HEALTH));
  expect(readdirSync(folder)).toEqual([expect.stringMatching(/^eve-lead-/)]);
});

test("a temporary store is no durable one, and health says so", async () => {
  const response = await create({}).fetch(new Request(HEALTH));
  expect(await response.json()).toEqual({ ok: true, status: "ready", workflowId: "lead@b1", durable: false });
});

test("with EVE_STORE health is what the protocol says, and info names the store durable", async () => {
  const lead = create({ EVE_STORE: join(folder, "store"), EVE_DEV: "1" });
  vi.stubEnv("EVE_DEV", "1");
  expect(await (await lead.fetch(new Request(HEALTH))).json()).toEqual({
    ok: true,
    status: "ready",
    workflowId: "lead@b1",
  });
  const info = await lead.fetch(new Request("http://localhost/eve/lead/v1/info"));
  expect(await info.json()).toMatchObject({ store: { durable: true } });
  expect(readdirSync(folder)).toEqual(["store"]);
});

test("requests that come at once start one member", async () => {
  const lead = create({});
  const answers = await Promise.all([1, 2, 3].map(() => lead.fetch(new Request(HEALTH))));
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
  expect(readdirSync(folder)).toHaveLength(1);
});

test("a start that fails is answered, without a path, and tried again", async () => {
  const written = vi.spyOn(process.stderr, "write").mockReturnValue(true);
  const file = join(folder, "taken");
  writeFileSync(file, "");
  const lead = create({ EVE_STORE: file });
  const broken = await lead.fetch(new Request(HEALTH));
  expect(broken.status).toBe(500);
  const text = await broken.text();
  expect(JSON.parse(text)).toMatchObject({ ok: false, code: "STORE_UNUSABLE" });
  expect(text).not.toContain(folder);
  expect(written).toHaveBeenCalledWith(expect.stringContaining("did not start"));
  rmSync(file);
  expect((await lead.fetch(new Request(HEALTH))).status).toBe(200);
});

test("a start that fails leaves no temporary store behind", async () => {
  vi.spyOn(process.stderr, "write").mockReturnValue(true);
  const broken = createFunction({ manifest: { ...MANIFEST, requiredEnv: ["LEAD_TOKEN"] }, modules: {} }, {});
  const response = await broken.fetch(new Request(HEALTH));
  expect(await response.json()).toMatchObject({ ok: false, error: expect.stringContaining("LEAD_TOKEN") });
  expect(readdirSync(folder)).toEqual([]);
});

const NODE = { id: "root", name: "lead", description: "", modelId: "eve/offline" };
const MANIFEST = {
  version: MANIFEST_VERSION,
  member: "lead",
  buildId: "b1",
  nodes: [{ ...NODE, tools: [], subagents: [], composition: [] }],
};

function create(env: Readonly<Record<string, string>>): AgentFunction {
  return createFunction({ manifest: MANIFEST, modules: {} }, env);
}
