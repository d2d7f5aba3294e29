import { spawnSync } from "node:child_process";

interface Process {
  readonly pid: number;
  readonly parent: number;
  readonly command: string;
}

/** `pid` and everything below it in the process table. */
export function processTree(pid: number): Process[] {
  const all = listProcesses();
  const tree = all.filter((process) => process.pid === pid);
  for (const { pid: parent } of tree) tree.push(...all.filter((process) => process.parent === parent));
  return tree;
}

/** Those of `processes` that still run. A number that now belongs to another program does not count. */
export function stillRunning(processes: readonly Process[]): Process[] {
  const now = new Map(listProcesses().map((process) => [process.pid, process.command]));
  return processes.filter(({ pid, command }) => now.get(pid) === command);
}

function listProcesses(): Process[] {
  const { stdout } = spawnSync("ps", ["-eo", "pid=,ppid=,stat=,args="], { encoding: "utf8", maxBuffer: 16 << 20 });
  return stdout.split("\n").flatMap((line) => {
    const [, pid, parent, state, command] = /^\s*(\d+)\s+(\d+)\s+(\S+)\s+(.*)$/.exec(line) ?? [];
    // A zombie is gone; only its parent has not asked yet.
    if (command === undefined || state!.startsWith("Z")) return [];
    return [{ pid: Number(pid), parent: Number(parent), command }];
  });
}
