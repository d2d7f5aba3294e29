/**
 * The one error class of the runtime and the table of its codes.
 *
 * Every error that reaches a person names what went wrong and where in `message`, and how to repair it in
 * `fix`. `docs/errors.md` has one section per code; a test keeps the two equal.
 */

const MARKER = Symbol.for("eve.AgentError");

/** Code → HTTP status it answers with, and whether the same request may succeed when sent again. */
export const ERROR_CODES = {
  BAD_REQUEST: { status: 400, retryable: false },
  BUILD_FAILED: { status: 500, retryable: false },
  CONFIG_INVALID: { status: 500, retryable: false },
  EMPTY_REPLY: { status: 502, retryable: true },
  ENV_MISSING: { status: 500, retryable: false },
  FORBIDDEN: { status: 403, retryable: false },
  INTERNAL: { status: 500, retryable: true },
  INVALID_INPUT: { status: 400, retryable: false },
  MEMBER_UNAVAILABLE: { status: 503, retryable: true },
  MODEL_FAILED: { status: 502, retryable: true },
  NO_TRANSPORT: { status: 502, retryable: false },
  NOT_FOUND: { status: 404, retryable: false },
  NOTHING_TO_RETRY: { status: 409, retryable: false },
  OPERATION_CONFLICT: { status: 409, retryable: false },
  OUTPUT_INVALID: { status: 502, retryable: true },
  PAYLOAD_TOO_LARGE: { status: 413, retryable: false },
  PORT_IN_USE: { status: 500, retryable: false },
  PROTOCOL_MISMATCH: { status: 502, retryable: false },
  REMOTE_FAILED: { status: 502, retryable: true },
  SANDBOX_FAILED: { status: 500, retryable: true },
  SESSION_EXPIRED: { status: 410, retryable: false },
  SESSION_NOT_ACTIVE: { status: 409, retryable: false },
  SESSION_STRANDED: { status: 409, retryable: false },
  STORE_FULL: { status: 507, retryable: true },
  STORE_LOCKED: { status: 500, retryable: false },
  STORE_UNUSABLE: { status: 500, retryable: false },
  SUBAGENT_UNAVAILABLE: { status: 409, retryable: false },
  TASK_SILENT: { status: 504, retryable: true },
  TASK_TIMEOUT: { status: 504, retryable: true },
  TOO_MANY_TASKS: { status: 429, retryable: true },
  TOOL_FAILED: { status: 500, retryable: false },
  TOOL_INTERRUPTED: { status: 500, retryable: false },
  UNAUTHORIZED: { status: 401, retryable: false },
  UNCERTAIN_OUTCOME: { status: 502, retryable: false },
  UNKNOWN_TASK: { status: 404, retryable: false },
  UNKNOWN_TOOL: { status: 404, retryable: false },
  UNSUPPORTED_MEDIA_TYPE: { status: 415, retryable: false },
} as const;

export type ErrorCode = keyof typeof ERROR_CODES;

export interface AgentErrorOptions {
  /** One imperative sentence that says how to repair it. */
  readonly fix?: string;
  readonly cause?: unknown;
  /** JSON-serialisable facts for programs. Never a credential, a stack or an absolute path. */
  readonly data?: Readonly<Record<string, unknown>>;
}

/**
 * An error with a code from {@link ERROR_CODES}.
 *
 * @example
 * throw new AgentError("NO_TRANSPORT", 'No address is known for the peer "research".', {
 *   fix: "Give defineWorkspaceAgent a `transport`, or set EVE_PEER_RESEARCH_URL.",
 * });
 */
export class AgentError extends Error {
  readonly code: ErrorCode;
  readonly fix: string | undefined;
  readonly data: Readonly<Record<string, unknown>> | undefined;

  constructor(code: ErrorCode, message: string, options: AgentErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = "AgentError";
    this.code = code;
    this.fix = options.fix;
    this.data = options.data;
    Object.defineProperty(this, MARKER, { value: true });
  }

  /** True for an `AgentError` of any copy of this module, optionally of one code only. */
  static is(error: unknown, code?: ErrorCode): error is AgentError {
    return (
      typeof error === "object" &&
      error !== null &&
      (error as Record<symbol, unknown>)[MARKER] === true &&
      (code === undefined || (error as AgentError).code === code)
    );
  }
}

/** The message of anything thrown, without a stack. Never throws, whatever it is given. */
export function messageOf(error: unknown): string {
  for (const read of [readMessage, String]) {
    try {
      return read(error);
    } catch {
      // A cycle, a BigInt, a getter that throws: told in another way.
    }
  }
  return `Something was thrown that can not be read: ${typeof error}.`;
}

function readMessage(error: unknown): string {
  if (error instanceof Error) return String(error.message);
  return typeof error === "string" ? error : (JSON.stringify(error) ?? String(error));
}

const STACK_LINE = /(?:^|\n)[ \t]{2,}at [^\n]*/g;
/** A quoted path may hold blanks; one that is not ends at what no path is expected to hold. */
const QUOTED_PATH = /(?<=(["'`]))(?:file:\/\/|[A-Za-z]:[\\/]|\/)[^"'`\n]*(?=\1)/g;
const PATH = /(?<![\w.~<*\]/\\-])(?:file:\/\/|[A-Za-z]:[\\/]|\/(?!\/))[^\s"'`()<>|,;:]+/g;

/** The word before a credential, the prefix of who issued it, or its place in a URL. What is kept of it is in a group. */
const CREDENTIALS = [
  /(:\/\/)[^\s/@"'`<>]+(?=@)/g,
  /([?&][\w.-]*(?:key|token|secret|sig|signature|password|auth|credential|code)=)[^&\s"'`<>)]+/gi,
  /\b((?:bearer|basic)\s+)(?=\S*\d|\S{20})[\w.~+/=-]{6,}/gi,
  /((?:api[-_ ]?key|authorization|(?:access|auth|refresh|id|session)[-_ ]?token|secret|password)(?:["'`]| provided)?\s*[:=]\s*["'`]?)(?=[^\s"'`,;]*[\d*]|\S{20})[^\s"'`,;}]{6,}/gi,
  /\b(AKIA|AIza|ya29\.|eyJ)[\w*.-]{12,}/g,
];

/** Looked at once it was matched: to look ahead from every place in a long message would take for ever. */
const ISSUED = /\b((?:sk|pk|rk|xai|gsk|vck|gh[opsu]|github_pat|glpat|hf|r8|pplx|nvapi)[-_])([\w*.-]{8,})/g;

/**
 * The message of anything thrown as it may leave the process: without the lines of a stack and what looks like a
 * credential, and with the last segment of a file path for the path. URLs stay.
 *
 * @example
 * publicMessageOf(new Error("open '/srv/app/none.txt'")); // open '…/none.txt'
 */
export function publicMessageOf(error: unknown): string {
  let message = messageOf(error).replace(STACK_LINE, "");
  for (const credential of CREDENTIALS) message = message.replace(credential, "$1…");
  message = message.replace(ISSUED, (all, issuer, rest) => (/[\d*]/.test(rest) ? `${issuer}…` : all));
  return message.replace(QUOTED_PATH, lastSegment).replace(PATH, lastSegment);
}

function lastSegment(path: string): string {
  const segments = path
    .replace(/^file:\/\//, "")
    .split(/[\\/]/)
    .filter((segment) => segment !== "");
  return segments.length < 2 ? path : `…/${segments.at(-1)}`;
}
