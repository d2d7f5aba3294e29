import { readdirSync, readFileSync } from "node:fs";

export interface Usage {
  /** Resident memory of the process group, in MB. */
  readonly rssMb: number;
  /** Resident memory of its largest process, in MB. */
  readonly largestMb: number;
  /** CPU time of the group since it started, in milliseconds; the kernel counts in steps of 10. */
  readonly cpuMs: number;
}

const TICK_MS = 10;
const PAGE_BYTES = 4096;

/**
 * What the processes of a group use, from `/proc`.
 *
 * @throws Error on systems without it.
 */
export function usageOf(group: number): Usage {
  const rss: number[] = [];
  let ticks = 0;
  for (const pid of readdirSync("/proc")) {
    if (!/^\d+$/.test(pid)) continue;
    const stat = readStat(pid);
    if (stat === undefined || stat.group !== group) continue;
    rss.push((stat.pages * PAGE_BYTES) / 1e6);
    ticks += stat.ticks;
  }
  if (rss.length === 0) throw new Error(`The process group ${group} is gone, or this system has no /proc.`);
  return { rssMb: rss.reduce((sum, one) => sum + one, 0), largestMb: Math.max(...rss), cpuMs: ticks * TICK_MS };
}

function readStat(pid: string): { group: number; ticks: number; pages: number } | undefined {
  try {
    // Behind the name, which may hold anything: state, parent, group, …; proc(5) counts from there.
    const text = readFileSync(`/proc/${pid}/stat`, "utf8");
    const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
    return { group: Number(fields[2]), ticks: Number(fields[11]) + Number(fields[12]), pages: Number(fields[21]) };
  } catch {
    return undefined;
  }
}
