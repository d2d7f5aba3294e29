/** What `parseArgs` throws has such a code, too. */
const CODE = "ERR_PARSE_ARGS";

/** A command or flag that does not exist, or is used in a way it can not be: exit code 2. */
export function usageError(message: string): Error {
  return Object.assign(new Error(message), { code: `${CODE}_INVALID_OPTION_VALUE` });
}

export function isUsageError(error: unknown): error is Error {
  return error instanceof Error && String((error as NodeJS.ErrnoException).code).startsWith(CODE);
}
