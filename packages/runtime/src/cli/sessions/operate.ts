import { readFileSync } from "node:fs";
import { join } from "node:path";
import { AgentError, ERROR_CODES, messageOf, type ErrorCode } from "../../errors.ts";
import type { StoreReader } from "../../host/sql/store.ts";
import { openOfflineMember, type OfflineMember } from "../../http/offline-member.ts";
import { createOperatorTokens } from "../../http/operator-token.ts";
import { toLocalOrigin } from "../../http/origin.ts";
import type { StorePlace } from "./locate-store.ts";

/** What an operator asks for. */
export interface Operation {
  readonly method: "DELETE" | "POST";
  /** Below `<base>/session/`. */
  readonly path: string;
  readonly body?: Readonly<Record<string, unknown>>;
}

/** Whoever owns a store, as its operator reaches it. */
export interface Operator {
  /** The member runs, so that what is asked of it begins at once. */
  readonly running: boolean;
  /** @throws AgentError as the member answers it; `MEMBER_UNAVAILABLE` when it does not. */
  send(operation: Operation): Promise<Readonly<Record<string, unknown>>>;
}

type Send = (request: Request) => Promise<Response>;

/** Longer than a member that is just starting again keeps a request waiting. */
const PATIENCE_MS = 30_000;
/** A member answers here by whatever name. */
const BASE = "/eve/v1";

/**
 * Reaches the member that runs on a store by its port, or takes the store for `body` when none does.
 *
 * @throws AgentError `STORE_LOCKED` when whoever has the store has no port, `STORE_UNUSABLE`, `STORE_FULL`.
 */
export async function withOperator<T>(
  place: StorePlace,
  store: Pick<StoreReader, "secret">,
  body: (operator: Operator) => Promise<T>,
): Promise<T> {
  const member = takeStore(place.folder);
  if (member === undefined) return body(await reachOwner(place, store));
  try {
    return await body({
      running: false,
      send: (operation) => ask(operation, "http://offline.invalid", (request) => member.fetch(request)),
    });
  } finally {
    await member.close();
  }
}

async function reachOwner(place: StorePlace, store: Pick<StoreReader, "secret">): Promise<Operator> {
  const origin = ownerOf(place);
  const secret = await store.secret();
  if (secret === undefined) throw notReady("has no secret yet");
  const tokens = createOperatorTokens(secret);
  return {
    running: true,
    send: (operation) =>
      ask(operation, `${origin}${BASE}`, (request) => {
        const { pathname: target } = new URL(request.url);
        request.headers.set("authorization", `Bearer ${tokens.create({ method: request.method, target })}`);
        return reach(request, origin);
      }),
  };
}

/** `undefined` when somebody else has it: the lock says so, whatever an earlier owner left in the file beside it. */
function takeStore(folder: string): OfflineMember | undefined {
  try {
    return openOfflineMember(folder, (line) => console.error(line));
  } catch (error) {
    if (AgentError.is(error, "STORE_LOCKED")) return undefined;
    throw error;
  }
}

function ownerOf({ folder }: StorePlace): string {
  try {
    const text = readFileSync(join(folder, "store.lock.json"), "utf8");
    const { host = "127.0.0.1", port } = JSON.parse(text) as { host?: unknown; port?: unknown };
    if (typeof host === "string" && Number.isInteger(port)) return toLocalOrigin(host, port as number);
  } catch {
    // Just being written.
  }
  throw notReady("does not listen yet");
}

function notReady(what: string): AgentError {
  return new AgentError("STORE_LOCKED", `Another process has the store, and ${what}.`, {
    fix: "Try again in a moment: a member is starting, or another `eve sessions` is at work.",
  });
}

/** A redirect would take the token elsewhere. */
async function reach(request: Request, origin: string): Promise<Response> {
  try {
    return await fetch(request, { redirect: "error", signal: AbortSignal.timeout(PATIENCE_MS) });
  } catch (error) {
    throw new AgentError("MEMBER_UNAVAILABLE", `The member at ${origin} does not answer: ${messageOf(error)}.`, {
      fix: "Try again; if it is stuck, stop it: eve sessions then uses the store itself.",
      cause: error,
    });
  }
}

async function ask(
  { method, path, body }: Operation,
  base: string,
  send: Send,
): Promise<Readonly<Record<string, unknown>>> {
  const response = await send(
    new Request(`${base}/session/${path}`, {
      method,
      ...(body === undefined ? {} : { headers: { "content-type": "application/json" }, body: JSON.stringify(body) }),
    }),
  );
  const answer = (await response.json().catch(() => ({}))) as Record<string, unknown>;
  if (response.ok) return answer;
  const code = String(answer.code).toUpperCase();
  throw new AgentError(
    Object.hasOwn(ERROR_CODES, code) ? (code as ErrorCode) : "INTERNAL",
    typeof answer.error === "string" ? answer.error : `The member answered ${response.status}.`,
  );
}
