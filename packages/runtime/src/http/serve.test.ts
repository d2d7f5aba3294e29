import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { MANIFEST_VERSION } from "../protocol/manifest.ts";

const NODE = { id: "root", name: "lead", description: "", modelId: "m", tools: [], subagents: [], composition: [] };
const MANIFEST = { version: MANIFEST_VERSION, member: "lead", buildId: "b1", nodes: [NODE] };

test.each([
  ["STORE_UNUSABLE", { EVE_STORE: "taken" }, MANIFEST],
  ["CONFIG_INVALID", {}, { ...MANIFEST, version: 999 }],
  ["ENV_MISSING", {}, { ...MANIFEST, requiredEnv: ["LEAD_TOKEN"] }],
])("a start that fails with %s says so in one line, with what to do", (code, env, manifest) => {
  const folder = mkdtempSync(join(tmpdir(), "serve-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  writeFileSync(join(folder, "taken"), "");
  const module = new URL("serve.ts", import.meta.url).href;
  const script = `
    import { exitWith, serve } from ${JSON.stringify(module)};
    await serve({ manifest: ${JSON.stringify(manifest)}, modules: {} }).catch(exitWith);
  `;
  const { stderr, status } = spawnSync(process.execPath, ["--input-type=module", "-e", script], {
    cwd: folder,
    env: { PORT: "0", ...env },
    encoding: "utf8",
  });
  expect(stderr).toMatch(new RegExp(`^${code} [^\\n]+ — [^\\n]+\\n$`));
  expect(stderr).not.toContain(folder);
  expect(status).toBe(1);
});
