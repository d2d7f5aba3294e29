import { AgentError } from "../errors.ts";
import { closest } from "./closest.ts";

type Check =
  | "string"
  | "string?"
  | "function"
  | "function?"
  | "schema"
  | "model?"
  | "visibility?"
  | "interrupt?"
  | "tokens?"
  | "compaction?"
  | "headers?"
  | "functions?"
  | "url"
  | "object?"
  | "reasoning?"
  | "providers?"
  | "cache?"
  | "count?"
  | "duration?"
  | "timeout?"
  | "number?"
  | "texts?"
  | "variables?"
  | "provider?"
  | "boolean?";

interface Problem {
  readonly option: string;
  readonly message: string;
  readonly fix: string;
}

/**
 * Refuses unknown options, missing ones and those of the wrong type, all of them in one error that names the helper.
 *
 * @throws AgentError `CONFIG_INVALID`; `data.option` is the first option that is wrong.
 */
export function checkOptions(helper: string, options: unknown, shape: Readonly<Record<string, Check>>): void {
  const known = Object.keys(shape);
  if (typeof options !== "object" || options === null || Array.isArray(options)) {
    throw new AgentError("CONFIG_INVALID", `${helper} takes one object.`, {
      fix: `Call ${helper}({ … }) with the options ${known.join(", ")}.`,
    });
  }
  const given = options as Record<string, unknown>;
  const problems = [
    ...Object.keys(given).flatMap((option) => (Object.hasOwn(shape, option) ? [] : [unknownOption(option, known)])),
    ...Object.entries(shape).flatMap(([option, check]) => wrongOption(option, given[option], check)),
  ];
  const [first] = problems;
  if (first === undefined) return;
  throw new AgentError("CONFIG_INVALID", `${helper} ${problems.map(({ message }) => message).join("; it ")}.`, {
    fix: problems.map(({ fix }) => fix).join(" "),
    data: { option: first.option },
  });
}

function unknownOption(option: string, known: readonly string[]): Problem {
  const near = closest(option, known);
  const meant = near === undefined ? "" : `Write "${near}" if that is meant, or remove it; `;
  return { option, message: `has no option "${option}"`, fix: `${meant}the options are ${known.join(", ")}.` };
}

function wrongOption(option: string, value: unknown, check: Check): Problem[] {
  if (value === undefined && check.endsWith("?")) return [];
  const expected = mismatch(check, value);
  if (expected === undefined) return [];
  return value === undefined
    ? [{ option, message: `needs "${option}", ${expected}`, fix: `Add "${option}".` }]
    : [{ option, message: `takes as "${option}" ${expected}`, fix: `Correct "${option}".` }];
}

function mismatch(check: Check, value: unknown): string | undefined {
  switch (check) {
    case "string":
    case "string?":
      return typeof value === "string" && value.trim() !== "" ? undefined : "a text that is not empty";
    case "function":
    case "function?":
      return typeof value === "function" ? undefined : "a function";
    case "interrupt?":
      return value === "retry" || value === "fail" ? undefined : '"retry" or "fail"';
    case "tokens?":
      return Number.isInteger(value) && Number(value) > 0 ? undefined : "a whole number above 0";
    case "compaction?":
      return value === false || isCompaction(value) ? undefined : "{ thresholdPercent } between 0 and 1, or false";
    case "object?":
      return typeof value === "object" && value !== null ? undefined : "an object";
    case "reasoning?":
      return EFFORTS.includes(value as string) ? undefined : `one of ${EFFORTS.join(", ")}`;
    case "providers?":
      return isObject(value) && Object.values(value).every(isObject)
        ? undefined
        : "an object of objects by provider, such as { anthropic: { … } }";
    case "cache?":
      return typeof value === "boolean" || isCache(value)
        ? undefined
        : 'true, false or { anthropic: { ttl } } with a ttl of "5m" or "1h"';
    case "count?":
      return Number.isSafeInteger(value) && Number(value) > 0 ? undefined : "a whole number above 0";
    case "duration?":
      return Number.isInteger(value) && Number(value) > 0 && Number(value) < 2 ** 31
        ? undefined
        : "a whole number of milliseconds above 0, at most 24 days";
    case "number?":
      return Number.isFinite(value) ? undefined : "a number";
    case "texts?":
      return Array.isArray(value) && value.every((text) => typeof text === "string" && text !== "")
        ? undefined
        : "a list of texts that are not empty";
    case "visibility?":
      return typeof value === "boolean" || value === "deferred" ? undefined : 'true, false or "deferred"';
    case "model?":
      return isModel(value)
        ? undefined
        : 'a gateway id such as "anthropic/claude-opus-5.5", or an AI SDK language model';
    case "schema":
      return isSchema(value) ? undefined : "a Zod schema of an object, such as z.object({ text: z.string() })";
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
    case "boolean?":
      return typeof value === "boolean" ? undefined : "true or false";
    case "provider?":
      return isProvider(value) ? undefined : "a provider: { name, create, resume, delete }";
    case "variables?":
      return Array.isArray(value) && value.every((name) => typeof name === "string" && /^[A-Za-z_]\w*$/.test(name))
        ? undefined
        : "a list of names of environment variables";
    case "timeout?":
      return value === false || (Number.isSafeInteger(value) && (value as number) > 0)
        ? undefined
        : "a whole number of milliseconds above 0, or false for no limit";
  }
}

function isCompaction(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return false;
  const { thresholdPercent = 0.9, ...others } = value as { thresholdPercent?: unknown };
  const share = typeof thresholdPercent === "number" && thresholdPercent > 0 && thresholdPercent <= 1;
  return share && Object.keys(others).length === 0;
}

const EFFORTS = ["provider-default", "none", "minimal", "low", "medium", "high", "xhigh", "max"];

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isCache(value: unknown): boolean {
  if (!isObject(value) || Object.keys(value).join() !== "anthropic" || !isObject(value.anthropic)) return false;
  const { ttl = "5m", ...others } = value.anthropic;
  return (ttl === "5m" || ttl === "1h") && Object.keys(others).length === 0;
}

function isProvider(value: unknown): boolean {
  if (!isObject(value)) return false;
  const named = typeof value.name === "string" && value.name.trim() !== "";
  return named && ["create", "resume", "delete"].every((name) => typeof value[name] === "function");
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
