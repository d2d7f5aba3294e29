import * as z from "zod";
import type { JsonSchema } from "../engine/state.ts";
import { messageOf } from "../errors.ts";

/** What is wrong with a schema that a reply is to be checked by; `undefined`: nothing. */
export function outputSchemaProblem(schema: JsonSchema): string | undefined {
  try {
    z.fromJSONSchema(schema);
    return undefined;
  } catch (error) {
    return messageOf(error);
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
  const parsed = z.fromJSONSchema(schema).safeParse(value);
  if (parsed.success) return { valid: true, value };
  const problems = parsed.error.issues.map(({ path, message }) => `${path.join(".") || "the value"}: ${message}`);
  return { valid: false, problem: problems.join("; ") };
}

function withoutFence(text: string): string {
  const fenced = text.trim();
  const start = fenced.indexOf("\n");
  return start > 0 && fenced.startsWith("```") && fenced.endsWith("```") ? fenced.slice(start, -3) : text;
}
