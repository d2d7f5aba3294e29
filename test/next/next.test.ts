import { spawnSync } from "node:child_process";
import { cpSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { copyForBuild, runBuild } from "../support/build-copy.ts";
import { startDev, type DevProcess } from "../support/dev-workspace.ts";
import { freePort } from "../support/free-port.ts";
import { until } from "../support/until.ts";
import { findChromium, openPage } from "./browser.ts";

// `pnpm test:next`: not part of `pnpm test`, because it installs Next.js from the registry and builds for a minute.
const CONFIG = `
import { withEve } from "eve/vercel";

export default await withEve({
  services: { web: { root: "web", framework: "nextjs" } },
  rewrites: [{ source: "/(.*)", destination: { type: "service", service: "web" } }],
});
`;

// Next.js takes nothing above a home directory for a workspace.
const ENV = { NEXT_TELEMETRY_DISABLED: "1", HOME: join(tmpdir(), "home") };
const chromium = findChromium();

let workspace: ReturnType<typeof copyForBuild>;
let dev: DevProcess;
let origin: string;

beforeAll(async () => {
  workspace = copyForBuild();
  const { root } = workspace;
  cpSync(join(import.meta.dirname, "web"), join(root, "web"), { recursive: true });
  writeFileSync(join(root, "vercel.ts"), CONFIG);
  const settings = join(root, "pnpm-workspace.yaml");
  const text = readFileSync(settings, "utf8").replace("packages:\n", 'packages:\n  - "web"\n');
  writeFileSync(settings, text.replace("allowBuilds:\n", "allowBuilds:\n  sharp: false\n"));
  install(root);
  const port = await freePort();
  dev = startDev(root, `127.0.0.1:${port}`, ENV);
  await dev.ready;
  // Next.js serves its development resources to this name only, unless `allowedDevOrigins` has more.
  origin = `http://localhost:${port}`;
}, 300_000);

afterAll(async () => {
  dev?.child.kill("SIGTERM");
  await dev?.exit;
  workspace?.[Symbol.dispose]();
});

test("/ is the page of Next.js, and the members are where they were", async () => {
  const response = await fetch(origin);
  if (response.status !== 200) throw new Error(`${response.status} ${await response.text()}\n${dev.log}`);
  expect([response.status, response.headers.get("x-powered-by")]).toEqual([200, "Next.js"]);
  expect(await response.text()).toContain("<h1>Beside the agents</h1>");
  expect(await (await fetch(`${origin}/eve/foreman/v1/health`)).json()).toMatchObject({ ok: true });
});

test.skipIf(chromium === undefined)("its page streams from a member at the same origin, in a browser", async () => {
  await using page = await openPage(chromium!, origin);
  const state = `document.querySelector("#state")?.textContent`;
  // A click before React has taken the page over is lost.
  await until(
    "the page asks",
    async () => {
      await page.evaluate(`document.querySelector("button")?.click()`);
      return ["asking", "done"].includes(String(await page.evaluate(state)));
    },
    { timeoutMs: 30_000 },
  );
  await until("the page has the reply", async () => (await page.evaluate(state)) === "done", { timeoutMs: 30_000 });
  expect(await page.evaluate(`document.querySelector("#reply").textContent`)).toContain("offline model");
});

test("pnpm build has the members' functions and those of Next.js, and does nothing when nothing changed", async () => {
  const { result, log } = await runBuild(workspace.root, ENV);
  if (!result.ok) throw new Error(log);
  expect(result.functions!.map(({ member }) => member)).toEqual(["foreman", "research"]);
  const services = join(workspace.root, ".vercel/output/services");
  expect(readdirSync(services).toSorted()).toEqual(["foreman", "research", "web"]);
  expect((await runBuild(workspace.root, ENV)).result.output).toBe("unchanged");
}, 300_000);

/** A real installation: Next.js is in no package of this workspace. */
function install(root: string): void {
  for (const folder of ["", "packages/runtime", ...readdirSync(join(root, "agents")).map((name) => `agents/${name}`)]) {
    rmSync(join(root, folder, "node_modules"));
  }
  const { status, stdout, stderr } = spawnSync("pnpm", ["install", "--no-frozen-lockfile", "--prefer-offline"], {
    cwd: root,
    encoding: "utf8",
  });
  if (status !== 0) throw new Error(`pnpm install failed:\n${stdout}${stderr}`);
}
