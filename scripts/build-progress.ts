import { createInterface } from "node:readline";
import type { Readable, Writable } from "node:stream";

/** Said at every build, and nothing to act on: packages are installed, and members have no other build command. */
const NOISE = [
  /Detected `pnpm-lock\.yaml`|Using pnpm@\S+ based on|To use a different version, set package\.json/,
  /Build not running on Vercel\. System environment variables/,
  /Typecheck skipped/,
  /^Summary: {4}|Remote caching disabled|Packages in scope:|^ {3}• Running build in/,
];

/** Passes on the lines of a tool that say something about this build. */
export function showProgress(pipes: readonly Readable[], progress: Writable): void {
  for (const input of pipes) {
    let wasBlank = true;
    createInterface({ input }).on("line", (line) => {
      const isBlank = line.trim() === "";
      if (NOISE.some((noise) => noise.test(line)) || (isBlank && wasBlank)) return;
      wasBlank = isBlank;
      progress.write(`${line}\n`);
    });
  }
}
