import { AgentError } from "../../errors.ts";

/** When the serving process is replaced by another, and how it goes. */
export interface Limits {
  /** Builds that a process takes up after its first: their modules can not be unloaded. */
  readonly swaps: number;
  /** Bytes of memory that it may use, looked at after each build. */
  readonly memory: number;
  /** How long it may finish what it works on before it is ended. */
  readonly patienceMs: number;
}

interface Variable {
  readonly name: string;
  readonly unit: number;
  readonly default: number;
  readonly min: number;
  readonly max: number;
}

const SWAPS: Variable = { name: "EVE_DEV_MAX_SWAPS", unit: 1, default: 50, min: 1, max: 10_000 };
const MEMORY: Variable = { name: "EVE_DEV_MAX_MEMORY_MB", unit: 1e6, default: 1000, min: 100, max: 1_000_000 };
const PATIENCE: Variable = { name: "EVE_DEV_PATIENCE_SECONDS", unit: 1000, default: 60, min: 0, max: 3600 };
/** Who stops at a breakpoint must not lose the process while they look. */
const PATIENCE_WITH_DEBUGGER: Variable = { ...PATIENCE, default: PATIENCE.max };

/**
 * Reads the limits of `eve dev` from the environment it is started with: `EVE_DEV_MAX_SWAPS` (50),
 * `EVE_DEV_MAX_MEMORY_MB` (1000) and `EVE_DEV_PATIENCE_SECONDS` (60; an hour with a debugger).
 *
 * @throws AgentError `CONFIG_INVALID`
 */
export function parseLimits(env: Readonly<Record<string, string | undefined>>, hasDebugger: boolean): Limits {
  return {
    swaps: read(env, SWAPS),
    memory: read(env, MEMORY),
    patienceMs: read(env, hasDebugger ? PATIENCE_WITH_DEBUGGER : PATIENCE),
  };
}

function read(env: Readonly<Record<string, string | undefined>>, variable: Variable): number {
  const { name, unit, min, max } = variable;
  const given = env[name] ?? "";
  if (given === "") return variable.default * unit;
  const value = /^\d+$/.test(given) ? Number(given) : NaN;
  if (value >= min && value <= max) return value * unit;
  throw new AgentError("CONFIG_INVALID", `${name}=${given} is no whole number from ${min} to ${max}.`, {
    fix: `Give ${name} such a number, or leave it out for ${variable.default}.`,
  });
}
