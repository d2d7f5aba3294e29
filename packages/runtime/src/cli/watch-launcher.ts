import { spawnSync } from "node:child_process";

const POLL_MS = 500;
/** How package managers, their shells and `eve` under an old Node appear in the process table. */
const LAUNCHER = /(?:^|[\s/])(?:sh|bash|dash|pnpm|npm|npx|corepack|eve)(?:\.cjs|\.mjs|\.js|-cli\.js)?(?:\s|$)/;

/**
 * Calls `onGone` when the package manager that started this program is gone. `npx` passes no signal on: killed, it
 * leaves the package manager it started, and everything below, behind.
 */
export function watchLauncher(onGone: () => void): void {
  const launcher = findLauncher();
  if (launcher === undefined) return;
  const timer = setInterval(() => {
    if (isAlive(launcher)) return;
    clearInterval(timer);
    onGone();
  }, POLL_MS);
  timer.unref();
}

/** The highest of the processes above this one that are package managers, with the shells between them. */
function findLauncher(): number | undefined {
  if (process.platform === "win32") return undefined;
  let launcher: number | undefined;
  let pid = process.ppid;
  while (pid > 1) {
    const { stdout } = spawnSync("ps", ["-o", "ppid=,args=", "-p", String(pid)], { encoding: "utf8" });
    const [, parent, command] = /^\s*(\d+)\s+(.*)$/s.exec(stdout ?? "") ?? [];
    if (parent === undefined || !LAUNCHER.test(command!)) break;
    // The shell a person typed in is no launcher; one that runs a command for a package manager is passed over.
    if (!/^\S*sh\b/.test(command!)) launcher = pid;
    pid = Number(parent);
  }
  return launcher;
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}
