import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { expect, onTestFinished, test } from "vitest";

const passOn = (next: string): string => `
import { spawn } from "node:child_process";
spawn(process.execPath, [${JSON.stringify(next)}], { stdio: "inherit" });
`;

test("a program ends with the npx that started its package manager, however that ends", async () => {
  const folder = mkdtempSync(join(tmpdir(), "eve-launcher-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const path = (name: string): string => join(folder, name);
  writeFileSync(path("npx.mjs"), passOn(path("pnpm.mjs")));
  writeFileSync(path("pnpm.mjs"), passOn(path("eve.mjs")));
  // What `bin/eve.mjs` is under an old Node.
  writeFileSync(path("eve.mjs"), passOn(path("program.mjs")));
  writeFileSync(
    path("program.mjs"),
    `import { watchLauncher } from ${JSON.stringify(new URL("./watch-launcher.ts", import.meta.url).href)};
watchLauncher(() => {
  console.log("gone");
  process.exit();
});
setInterval(() => {}, 1000);
console.log("running");
`,
  );
  const npx = spawn(process.execPath, [path("npx.mjs")], { stdio: ["ignore", "pipe", "inherit"] });
  const lines = createInterface(npx.stdout);
  expect(await once(lines, "line")).toEqual(["running"]);
  npx.kill("SIGKILL");
  expect(await once(lines, "line")).toEqual(["gone"]);
});
