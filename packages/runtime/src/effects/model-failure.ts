import type { EffectInput } from "../engine/input.ts";
import { AgentError, publicMessageOf } from "../errors.ts";
import type { Usage } from "../protocol/events.ts";
import { hasFailedOnTheWay, readFault, type Fault } from "./provider-fault.ts";
import { ProviderSilence } from "./silence.ts";

export interface FailedCall {
  readonly modelId: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Provider calls of the step that failed before. */
  readonly failures: number;
  /** The provider had begun to answer: it had found nothing wrong with the request. */
  readonly hadBegun: boolean;
  readonly usage?: Usage;
}

type Failed = Extract<EffectInput, { kind: "model.failed" }>;

/** A longer `retry-after` is not waited for: a turn is not held for minutes. */
const MAX_WAIT_MS = 60_000;
const RETRY_MS = 250;
/** Of a provider that has too much to do. */
const BUSY_RETRY_MS = 2_000;
const MAX_MESSAGE = 1_000;

const TRANSIENT_STATUS = [408, 409, 425, 429];
/** What providers call errors that have no status: those that pass, those that do not. */
const TRANSIENT =
  /overloaded|rate_?limit|too_many|throttl|exhausted|unavailable|timeout|deadline|api_error|server_?error|internal/;
const TERMINAL =
  /invalid|authentication|permission|forbidden|not_found|content_filter|policy|context_length|unsupported|too_large/;
/** Answered with 429, but waiting does not help. */
const UNPAID = /insufficient_quota|billing/;
const BUSY = /overloaded|rate_?limit|too_many|throttl|exhausted/;

/** A failed provider call as the engine takes it: whether another may succeed, when, and what a person should know. */
export function toModelFailure(error: unknown, call: FailedCall): Failed {
  const shared = { kind: "model.failed", ...(call.usage && { usage: call.usage }) } as const;
  if (AgentError.is(error)) {
    return { ...shared, code: error.code, message: toMessage(error.message, call), retryable: false };
  }
  const fault = readFault(error);
  const retryable = isTransient(error, fault, call);
  const { statusCode, providerCode } = fault;
  const facts = [call.modelId, ...(statusCode === undefined ? [] : [`HTTP ${statusCode}`])];
  return {
    ...shared,
    code: "MODEL_FAILED",
    message: `${toMessage(fault.message ?? "The provider failed and did not say why.", call)} (${facts.join(", ")})`,
    retryable,
    details: {
      modelId: call.modelId,
      ...(statusCode !== undefined && { statusCode }),
      ...(providerCode !== undefined && { providerCode }),
    },
    ...(retryable && { retryAfterMs: toWait(fault, call.failures) }),
  };
}

function isTransient(error: unknown, fault: Fault, { hadBegun }: FailedCall): boolean {
  if (error instanceof ProviderSilence || hasFailedOnTheWay(error)) return true;
  const { statusCode, providerCode = "", isRetryable } = fault;
  if (UNPAID.test(providerCode)) return false;
  if (isRetryable === true) return true;
  if (statusCode !== undefined && statusCode < 500) return TRANSIENT_STATUS.includes(statusCode);
  if (TRANSIENT.test(providerCode)) return true;
  if (statusCode !== undefined) return isRetryable !== false;
  // Without any mark: what breaks a response that had begun is the provider's; all else would fail again.
  return hadBegun && !TERMINAL.test(providerCode);
}

function toWait({ statusCode, providerCode = "", retryAfterMs }: Fault, failures: number): number {
  if (retryAfterMs !== undefined && retryAfterMs <= MAX_WAIT_MS) return Math.max(retryAfterMs, RETRY_MS);
  const isBusy = statusCode === 429 || statusCode === 529 || BUSY.test(providerCode);
  return (isBusy ? BUSY_RETRY_MS : RETRY_MS) * 2 ** failures;
}

/** Providers repeat what they were sent: no secret of this process leaves it in their words. */
function toMessage(message: string, { env }: FailedCall): string {
  let shown = message;
  for (const [name, value] of Object.entries(env)) {
    if (value !== undefined && value.length >= 8 && SECRET.test(name)) shown = shown.replaceAll(value, "…");
  }
  shown = publicMessageOf(shown).trim();
  return shown.length > MAX_MESSAGE ? `${shown.slice(0, MAX_MESSAGE)}…` : shown;
}

const SECRET = /key|token|secret|password|credential|auth/i;
