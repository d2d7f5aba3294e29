import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { AgentError, ERROR_CODES } from "../errors.ts";
import { parseManifest } from "../registry/parse-manifest.ts";
import { createMember, type Bundle, type Member } from "./member.ts";
import { originOf, toLocalOrigin } from "./origin.ts";
import { formatStartError } from "./start-error.ts";
import { surviveStrayRejections } from "./stray-rejection.ts";
import { tellUncaughtException } from "./uncaught-exception.ts";

/** What the platform's Node launcher takes as the default export of a function. */
export interface AgentFunction {
  fetch(request: Request): Promise<Response>;
}

type Env = Readonly<Record<string, string | undefined>>;

/**
 * A built member as a function: it answers requests and opens no port. The member starts with the first request, so
 * that loading the file (the platform does, to look at it) touches nothing. A start that fails is answered and tried
 * again with the next request.
 *
 * The store is the folder `EVE_STORE`, else a temporary one, which `health` and `info` then say.
 *
 * @example
 * export default createFunction({ manifest, modules, folder });
 */
export function createFunction(bundle: Bundle, env: Env = process.env): AgentFunction {
  let starting: Promise<Member> | undefined;
  return {
    fetch: async (request) => {
      let member: Member;
      try {
        member = await (starting ??= start(bundle, env));
      } catch (error) {
        starting = undefined;
        return toStartProblem(error, env);
      }
      return member.fetch(request);
    },
  };
}

async function start(bundle: Bundle, env: Env): Promise<Member> {
  surviveStrayRejections(env, log);
  const { member: name } = parseManifest(bundle.manifest);
  tellUncaughtException(name, env, log);
  const store = storeOf(name, env);
  try {
    const origin = (): string => originOf(env, toLocalOrigin("127.0.0.1", Number(env.PORT ?? 4000)));
    const member = await createMember(bundle, { env, ...store, origin, log });
    await member.start();
    return member;
  } catch (error) {
    if (store.isTemporary) rmSync(store.storeFolder, { recursive: true, force: true });
    throw error;
  }
}

function storeOf(member: string, { EVE_STORE }: Env): { storeFolder: string; isTemporary: boolean } {
  if (EVE_STORE) return { storeFolder: resolve(EVE_STORE), isTemporary: false };
  return { storeFolder: mkdtempSync(join(tmpdir(), `eve-${member}-`)), isTemporary: true };
}

function toStartProblem(error: unknown, env: Env): Response {
  log(`The member did not start: ${formatStartError(error, env)}`);
  const known = AgentError.is(error)
    ? error
    : new AgentError("INTERNAL", "The member did not start.", { fix: "Look at the log of the function." });
  const { code, message, fix } = known;
  return Response.json(
    { ok: false, error: fix === undefined ? message : `${message} ${fix}`, code },
    { status: ERROR_CODES[code].status, headers: { "cache-control": "no-store" } },
  );
}

function log(line: string): void {
  process.stderr.write(`${line}\n`);
}
