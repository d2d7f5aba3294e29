/** What the errors of providers say of themselves, whichever package they come from. */
export interface Fault {
  /** In the provider's words; absent when it has none that are fit to be shown. */
  readonly message?: string;
  readonly statusCode?: number;
  /** What the provider calls the error, in lower case: `overloaded_error`, `insufficient_quota`. */
  readonly providerCode?: string;
  /** As the AI SDK marks it; `false` may only mean that it did not know. */
  readonly isRetryable?: boolean;
  readonly retryAfterMs?: number;
}

/** Errors of the AI SDK whose message repeats all of what could not be read. */
const UNREADABLE = /^AI_(JSONParse|TypeValidation|InvalidResponseData)Error$/;

export function readFault(error: unknown, now: () => number = Date.now): Fault {
  if (typeof error === "string") return error.trim() === "" ? {} : { message: error };
  if (!isObject(error)) return {};
  const { statusCode, status, isRetryable, name } = error;
  const message = UNREADABLE.test(String(name)) ? "The provider sent what can not be read." : messageIn(error);
  const httpStatus = [statusCode, status].find((value) => Number.isInteger(value)) as number | undefined;
  const providerCode = codeIn(error);
  const retryAfterMs = readRetryAfter(error, now);
  return {
    ...(message !== undefined && { message }),
    ...(httpStatus !== undefined && { statusCode: httpStatus }),
    ...(providerCode !== undefined && { providerCode }),
    ...(typeof isRetryable === "boolean" && { isRetryable }),
    ...(retryAfterMs !== undefined && { retryAfterMs }),
  };
}

const NETWORK_CODE = /^(ECONN|EPIPE|ETIMEDOUT|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|UND_ERR)/;
const NETWORK_MESSAGE = /^(fetch failed|failed to fetch|terminated|network error|socket hang up|other side closed)$/i;

/** Whether the connection failed, and not what was sent over it. */
export function hasFailedOnTheWay(error: unknown): boolean {
  return causesOf(error).some(({ code, name, message }) => {
    if (typeof code === "string" && NETWORK_CODE.test(code)) return true;
    return name === "TimeoutError" || name === "AbortError" || NETWORK_MESSAGE.test(String(message));
  });
}

function messageIn(error: Fields): string | undefined {
  const inner = isObject(error.error) ? error.error.message : error.error;
  const found = [error.message, inner].find((text) => typeof text === "string" && text.trim() !== "");
  const code = causesOf(error).find((cause) => typeof cause.code === "string" && NETWORK_CODE.test(cause.code))?.code;
  if (typeof found !== "string") return code as string | undefined;
  return code === undefined || found.includes(String(code)) ? found : `${found} (${String(code)})`;
}

/** Looked for where the APIs of providers have it: in the error itself, or in the body of the answer. */
function codeIn(error: Fields): string | undefined {
  const body = isObject(error.data) ? error.data : {};
  const found = [body.error, body, error.error, error].flatMap((holder) =>
    isObject(holder) ? [holder.code, holder.type, holder.status] : [],
  );
  const words = found.filter((word): word is string => typeof word === "string" && /[a-z]/i.test(word));
  return words.find((word) => word !== "error")?.toLowerCase();
}

/** Milliseconds that the answer asks to wait; `retry-after` is a number of seconds or a date. */
function readRetryAfter(error: Fields, now: () => number): number | undefined {
  const headers = causesOf(error).find((cause) => isObject(cause.responseHeaders))?.responseHeaders as Fields;
  if (headers === undefined) return undefined;
  const precise = Number.parseFloat(String(headers["retry-after-ms"]));
  const text = String(headers["retry-after"] ?? "");
  const seconds = /^\s*\d+(\.\d+)?\s*$/.test(text) ? Number(text) * 1_000 : Date.parse(text) - now();
  const found = Number.isNaN(precise) ? seconds : precise;
  return Number.isNaN(found) ? undefined : Math.max(0, found);
}

type Fields = Readonly<Record<string, unknown>>;

/** The error and what caused it, and what caused that. */
function causesOf(error: unknown): Fields[] {
  const causes: Fields[] = [];
  for (let cause = error; isObject(cause) && causes.length < 5; cause = cause.cause) causes.push(cause);
  return causes;
}

function isObject(value: unknown): value is Fields {
  return typeof value === "object" && value !== null;
}
