/**
 * Ends what the bench started, also when the bench itself was killed: reads from stdin the process groups and folders
 * that exist, and once stdin closes kills and removes what is left. `+p 123`, `-p 123`, `+f /path`, `-f /path`.
 */
import { rmSync } from "node:fs";
import { createInterface } from "node:readline";

const left = { p: new Set<string>(), f: new Set<string>() };

for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => {});

for await (const line of createInterface(process.stdin)) {
  const kind = line[1] as "p" | "f";
  if (line[0] === "+") left[kind].add(line.slice(3));
  else left[kind].delete(line.slice(3));
}

for (const group of left.p) {
  try {
    process.kill(-Number(group), "SIGKILL");
  } catch {
    // It has ended.
  }
}
for (const folder of left.f) rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
