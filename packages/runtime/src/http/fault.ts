import type { FaultPoint } from "../engine/ports.ts";

/**
 * Lets a crash test kill this process, as `kill -9` would, at the n-th point around a commit or an effect:
 * `EVE_FAULT_AT=7`, or at the n-th of one kind: `EVE_FAULT_AT=7:commit:after`. Unset, there are no such points.
 */
export function createFault(
  env: Readonly<Record<string, string | undefined>>,
): ((point: FaultPoint) => void) | undefined {
  const [, number, kind] = /^([1-9]\d*)(?::(.+))?$/.exec(env.EVE_FAULT_AT ?? "") ?? [];
  if (number === undefined) return undefined;
  const at = Number(number);
  let passed = 0;
  return (point) => {
    if (kind !== undefined && point !== kind) return;
    if (++passed !== at) return;
    process.stderr.write(`fault ${at}: ${point}\n`);
    process.kill(process.pid, "SIGKILL");
  };
}
