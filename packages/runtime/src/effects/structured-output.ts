import { runInNewContext } from "node:vm";
import * as z from "zod";
import type { JsonSchema } from "../engine/state.ts";
import { messageOf } from "../errors.ts";

/** A schema is a caller's: neither a pattern that backtracks nor one that grows by its references holds up a member. */
const LIMIT_MS = 1_000;
/** Of what is wrong with a reply: the model reads it, and a caller does. */
const MAX_PROBLEMS = 10;

/** What is wrong with a schema that a reply is to be checked by; `undefined`: nothing. */
export function outputSchemaProblem(schema: JsonSchema): string | undefined {
  try {
    inTime(() => z.fromJSONSchema(schema));
    return undefined;
  } catch (error) {
    return toProblem(error);
  }
}

/** A reply as the value that its turn's schema describes. Some models wrap their JSON into a fence. */
export function readOutput(
  text: string,
  schema: JsonSchema,
): { readonly valid: true; readonly value: unknown } | { readonly valid: false; readonly problem: string } {
  let value: unknown;
  try {
    value = JSON.parse(withoutFence(text));
  } catch (error) {
    return { valid: false, problem: `it is no JSON (${messageOf(error)})` };
  }
  try {
    const { error } = inTime(() => z.fromJSONSchema(schema).safeParse(value));
    return error === undefined ? { valid: true, value } : { valid: false, problem: describe(error.issues) };
  } catch (error) {
    return { valid: false, problem: `it can not be checked (${toProblem(error)})` };
  }
}

function describe(issues: readonly z.core.$ZodIssue[]): string {
  const problems = issues.map(({ path, message }) => `${path.join(".") || "the value"}: ${message}`);
  const more = problems.length - MAX_PROBLEMS;
  return [...problems.slice(0, MAX_PROBLEMS), ...(more > 0 ? [`and ${more} more`] : [])].join("; ");
}

/** Only the engine itself can stop what does not return, a pattern that is being matched among it. */
function inTime<T>(check: () => T): T {
  return runInNewContext("check()", { check }, { timeout: LIMIT_MS }) as T;
}

function toProblem(error: unknown): string {
  if ((error as NodeJS.ErrnoException).code === "ERR_SCRIPT_EXECUTION_TIMEOUT") return "that takes too long";
  return messageOf(error);
}

function withoutFence(text: string): string {
  const fenced = text.trim();
  const start = fenced.indexOf("\n");
  return start > 0 && fenced.startsWith("```") && fenced.endsWith("```") ? fenced.slice(start, -3) : text;
}
