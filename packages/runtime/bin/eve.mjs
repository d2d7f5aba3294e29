#!/usr/bin/env node
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

if (process.features.typescript) {
  const { main } = await import("../src/cli/main.ts");
  process.exitCode = await main(process.argv.slice(2));
} else {
  runWithWorkspaceNode();
}

// The sources are TypeScript. A workspace brings a Node that runs them, also where an older one comes first in PATH.
function runWithWorkspaceNode() {
  const node = findWorkspaceNode(process.cwd());
  if (node === undefined || process.env.EVE_NODE_TRIED) {
    console.error(`eve needs Node 22.18 or newer; this is ${process.version}. Run \`pnpm install\` in the workspace.`);
    process.exitCode = 1;
    return;
  }
  const child = spawn(node, [fileURLToPath(import.meta.url), ...process.argv.slice(2)], {
    stdio: "inherit",
    env: { ...process.env, EVE_NODE_TRIED: "1" },
  });
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => child.kill(signal));
  child.on("exit", (code) => (process.exitCode = code ?? 1));
}

function findWorkspaceNode(start) {
  for (let folder = start; ; folder = dirname(folder)) {
    const node = join(folder, "node_modules/.bin/node");
    if (existsSync(node)) return node;
    if (dirname(folder) === folder) return undefined;
  }
}
