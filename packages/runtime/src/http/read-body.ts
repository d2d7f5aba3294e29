import type { Context } from "hono";
import type { z } from "zod";
import { AgentError } from "../errors.ts";

type Issue = z.core.$ZodIssue;

/** Largest body a member reads, in bytes. */
export const MAX_BODY_BYTES: number = 4 * 1024 * 1024;
/** Levels of objects and arrays in a body: no field of the protocol needs more. */
const MAX_DEPTH = 64;

/**
 * The JSON body of a request, parsed by `schema`; an empty body counts as `{}`.
 *
 * Besides JSON media types this takes what `curl -d` sends without being told, but never from a browser: a form of
 * another site must not be able to speak to a member on the visitor's machine.
 *
 * @throws AgentError `UNSUPPORTED_MEDIA_TYPE`, `PAYLOAD_TOO_LARGE`, `BAD_REQUEST` naming the field.
 */
export async function readBody<T extends z.ZodObject>(c: Context, schema: T): Promise<z.output<T>> {
  const text = await readText(c);
  if (text !== "" && !isJson(c)) {
    throw new AgentError("UNSUPPORTED_MEDIA_TYPE", "The body is not declared as JSON.", {
      fix: 'Send the header "content-type: application/json".',
    });
  }
  let body: unknown;
  try {
    body = text === "" ? {} : JSON.parse(text);
  } catch {
    throw new AgentError("BAD_REQUEST", "The body is not valid JSON.", { fix: "Check its quotes and commas." });
  }
  if (isDeeperThan(body, MAX_DEPTH)) {
    throw new AgentError("BAD_REQUEST", `The body is nested deeper than ${MAX_DEPTH} levels.`, { fix: "Flatten it." });
  }
  const parsed = schema.safeParse(body);
  if (parsed.success) return parsed.data;
  throw toBadRequest(parsed.error.issues, body, Object.keys(schema.shape));
}

/** Fields that are not known come first: a misspelled one is also why another is missing. */
function toBadRequest(issues: readonly Issue[], body: unknown, known: readonly string[]): AgentError {
  const unknown = issues.find(({ code }) => code === "unrecognized_keys");
  if (unknown?.code === "unrecognized_keys") {
    const field = unknown.keys[0]!;
    const fix = known.length === 1 ? `The only field is ${known[0]}.` : `The known fields are ${known.join(", ")}.`;
    return new AgentError("BAD_REQUEST", `${field}: is not a field that is supported here.`, { fix, data: { field } });
  }
  const { path = [], message = "is not valid" } = innermost(issues[0]);
  const field = path.join(".") || "the body";
  const missing = path.length > 0 && valueAt(body, path) === undefined;
  return new AgentError("BAD_REQUEST", `${field}: ${missing ? "is missing" : message}.`, {
    fix: missing ? `Send ${field}.` : `Correct ${field}.`,
    data: { field },
  });
}

/** Level by level: what is too deep for a recursion must be told without one. */
function isDeeperThan(body: unknown, depth: number): boolean {
  let level = [body].filter(isContainer);
  for (let n = 0; n < depth && level.length > 0; n++) {
    level = level.flatMap((value) => Object.values(value).filter(isContainer));
  }
  return level.length > 0;
}

function isContainer(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}

/** Of the forms a value may have, the one that it is most like says what is wrong with it. */
function innermost(issue: Issue | undefined): Issue | Record<string, undefined> {
  if (issue?.code !== "invalid_union") return issue ?? {};
  const inner = issue.errors.map(([first]) => first).filter((candidate) => candidate !== undefined);
  const deepest = inner.reduce<Issue | undefined>(
    (best, candidate) => (candidate.path.length > (best?.path.length ?? 0) ? candidate : best),
    undefined,
  );
  return deepest === undefined ? issue : innermost({ ...deepest, path: [...issue.path, ...deepest.path] });
}

function valueAt(body: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce<unknown>((value, key) => (value as Record<PropertyKey, unknown> | null | undefined)?.[key], body);
}

async function readText(c: Context): Promise<string> {
  if (Number(c.req.header("content-length") ?? 0) > MAX_BODY_BYTES) throw tooLarge();
  const chunks: Uint8Array[] = [];
  let size = 0;
  const body = c.req.raw.body as AsyncIterable<Uint8Array> | null;
  for await (const chunk of body ?? []) {
    size += chunk.byteLength;
    if (size > MAX_BODY_BYTES) throw tooLarge();
    chunks.push(chunk);
  }
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(Buffer.concat(chunks));
  } catch {
    throw new AgentError("BAD_REQUEST", "The body is not valid UTF-8.", { fix: "Send JSON in UTF-8." });
  }
}

function isJson(c: Context): boolean {
  const type = (c.req.header("content-type") ?? "").split(";")[0]!.trim().toLowerCase();
  if (type === "application/json" || type.endsWith("+json")) return true;
  const fromBrowser = c.req.header("origin") !== undefined || c.req.header("sec-fetch-site") !== undefined;
  return type === "application/x-www-form-urlencoded" && !fromBrowser;
}

function tooLarge(): AgentError {
  return new AgentError("PAYLOAD_TOO_LARGE", `The body is larger than ${MAX_BODY_BYTES} bytes.`, {
    fix: "Send less, or send files by URL.",
  });
}
