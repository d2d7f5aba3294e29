import { AgentError } from "../errors.ts";

const DAY_MS = 86_400_000;
const DEFAULT_DAYS = 30;

/**
 * How long the events of an ended session can be read, in milliseconds: `EVE_RETENTION_DAYS`, a number above 0 or
 * `forever`, default 30.
 *
 * @throws AgentError `CONFIG_INVALID`
 */
export function readRetention({ EVE_RETENTION_DAYS: days }: Readonly<Record<string, string | undefined>>): number {
  if (!days) return DEFAULT_DAYS * DAY_MS;
  if (days === "forever") return Infinity;
  const given = /^\d+(\.\d+)?$/.test(days) ? Number(days) : 0;
  if (given > 0 && Number.isFinite(given * DAY_MS)) return given * DAY_MS;
  throw new AgentError("CONFIG_INVALID", `EVE_RETENTION_DAYS: ${JSON.stringify(days)} is no number of days.`, {
    fix: 'Set it to a number above 0, or to "forever", or leave it out for 30 days.',
  });
}
