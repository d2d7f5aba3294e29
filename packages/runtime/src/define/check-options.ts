import { AgentError } from "../errors.ts";

type Check =
  | "string"
  | "string?"
  | "function"
  | "function?"
  | "schema"
  | "model?"
  | "visibility?"
  | "interrupt?"
  | "headers?"
  | "functions?"
  | "url"
  | "object?";

/**
 * Refuses unknown options and options of the wrong type, naming the helper and the option.
 *
 * @throws AgentError `CONFIG_INVALID`
 */
export function checkOptions(helper: string, options: unknown, shape: Readonly<Record<string, Check>>): void {
  if (typeof options !== "object" || options === null || Array.isArray(options)) {
    throw new AgentError("CONFIG_INVALID", `${helper} takes one object.`, {
      fix: `Call ${helper}({ … }) with the options ${Object.keys(shape).join(", ")}.`,
    });
  }
  const given = options as Record<string, unknown>;
  for (const key of Object.keys(given)) {
    if (Object.hasOwn(shape, key)) continue;
    throw new AgentError("CONFIG_INVALID", `${helper} has no option "${key}".`, {
      fix: `Remove it; the options are ${Object.keys(shape).join(", ")}.`,
      data: { option: key },
    });
  }
  for (const [key, check] of Object.entries(shape)) {
    const value = given[key];
    if (value === undefined && check.endsWith("?")) continue;
    const expected = mismatch(check, value);
    if (expected === undefined) continue;
    throw new AgentError("CONFIG_INVALID", `${helper}: "${key}" must be ${expected}.`, {
      fix: `Set "${key}" to ${expected}.`,
      data: { option: key },
    });
  }
}

function mismatch(check: Check, value: unknown): string | undefined {
  switch (check) {
    case "string":
    case "string?":
      return typeof value === "string" && value.trim() !== "" ? undefined : "a non-empty string";
    case "function":
    case "function?":
      return typeof value === "function" ? undefined : "a function";
    case "interrupt?":
      return value === "retry" || value === "fail" ? undefined : '"retry" or "fail"';
    case "object?":
      return typeof value === "object" && value !== null ? undefined : "an object";
    case "visibility?":
      return typeof value === "boolean" || value === "deferred" ? undefined : 'true, false or "deferred"';
    case "model?":
      return isModel(value) ? undefined : "a gateway id or an AI SDK language model";
    case "schema":
      return isSchema(value) ? undefined : "a Zod schema of an object";
    case "url":
      return typeof value === "function" || isHttpUrl(value)
        ? undefined
        : "an http(s) URL, or a function that returns one";
    case "headers?":
      return typeof value === "function" || isHeaders(value)
        ? undefined
        : "an object of strings, or a function that returns one";
    case "functions?":
      return Array.isArray(value) && value.every((item) => typeof item === "function")
        ? undefined
        : "an array of functions";
  }
}

function isModel(value: unknown): boolean {
  if (typeof value === "string") return value.trim() !== "";
  return typeof value === "object" && value !== null && "specificationVersion" in value && "modelId" in value;
}

function isSchema(value: unknown): boolean {
  return typeof value === "object" && value !== null && "safeParse" in value;
}

function isHeaders(value: unknown): boolean {
  return (
    typeof value === "object" && value !== null && Object.values(value).every((header) => typeof header === "string")
  );
}

function isHttpUrl(value: unknown): boolean {
  return typeof value === "string" && URL.canParse(value) && /^https?:$/.test(new URL(value).protocol);
}
