import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { describe, expect, onTestFinished, test } from "vitest";
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

describe("an exception that nobody catches", () => {
  test("ends the server with one line that says where it was thrown", () => {
    const { stderr, status } = runThrowing("serve.ts", "await serve(bundle);");
    expect(stderr).toBe(
      "An exception that nobody caught ends lead: not caught, over two lines (agents/lead/agent/lib/late.ts:3)\n",
    );
    expect(status).toBe(1);
  });

  test("shows its whole stack when asked to", () => {
    const { stderr, status } = runThrowing("serve.ts", "await serve(bundle);", { EVE_DEBUG: "1" });
    expect(stderr).toMatch(
      /^An exception that nobody caught ends lead: Error: not caught[^]*\n {4}at [^]*node:internal/,
    );
    expect(status).toBe(1);
  });

  const FUNCTION = `await createFunction(bundle).fetch(new Request("https://lead.example/eve/lead/v1/health"));`;

  test("is told by a function before the platform deals with it as ever", () => {
    const { stderr, status } = runThrowing("function.ts", FUNCTION);
    expect(stderr.split("\n")[0]).toBe(
      "An exception that nobody caught in lead: not caught, over two lines (agents/lead/agent/lib/late.ts:3)",
    );
    expect(stderr.match(/nobody caught/g)).toHaveLength(1);
    expect(status).toBe(1);
    const survivor = runThrowing(
      "function.ts",
      `process.on("uncaughtException", () => process.exit(7)); ${FUNCTION} ${FUNCTION}`,
      // Two members of one process have no store in common.
      { EVE_STORE: "" },
    );
    expect(survivor.stderr).toBe(`${stderr.split("\n")[0]}\n`);
    expect(survivor.status).toBe(7);
  });
});

/** Runs a member whose code throws in a timer once it has started. */
function runThrowing(module: string, start: string, env: Readonly<Record<string, string>> = {}) {
  const folder = mkdtempSync(join(tmpdir(), "serve-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const late = join(folder, "agents/lead/agent/lib/late.ts");
  mkdirSync(dirname(late), { recursive: true });
  writeFileSync(
    late,
    `export const throwLater = (): void => {
  setTimeout(() => {
    throw new Error("not caught,\\nover two lines");
  }, 0);
};
`,
  );
  const script = `
    import { ${module === "serve.ts" ? "serve" : "createFunction"} } from ${JSON.stringify(new URL(module, import.meta.url).href)};
    import { throwLater } from ${JSON.stringify(pathToFileURL(late).href)};
    const bundle = { manifest: ${JSON.stringify(MANIFEST)}, modules: {} };
    ${start}
    throwLater();
  `;
  return spawnSync(process.execPath, ["--disable-warning=ExperimentalWarning", "--input-type=module", "-e", script], {
    cwd: folder,
    env: { PORT: "0", EVE_STORE: "store", TMPDIR: folder, ...env },
    encoding: "utf8",
    timeout: 15_000,
  });
}
