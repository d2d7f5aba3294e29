import type { FaultPoint } from "../engine/ports.ts";

/**
 * Lets a crash test kill this process, as `kill -9` would, at the n-th point around a commit or an effect:
 * `EVE_FAULT_AT=7`. Unset, there are no such points.
 */
export function createFault(
  env: Readonly<Record<string, string | undefined>>,
): ((point: FaultPoint) => void) | undefined {
  const at = Number(env.EVE_FAULT_AT ?? "");
  if (!Number.isInteger(at) || at < 1) return undefined;
  let passed = 0;
  return (point) => {
    if (++passed !== at) return;
    process.stderr.write(`fault ${at}: ${point}\n`);
    process.kill(process.pid, "SIGKILL");
  };
}
