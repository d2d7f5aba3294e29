import { AgentError, publicMessageOf } from "../../errors.ts";

/** Result codes of SQLite, by which a store says that it does not work. */
const FULL = 13;
const BROKEN = new Set([
  3, // PERM
  5, // BUSY
  6, // LOCKED
  7, // NOMEM
  8, // READONLY
  10, // IOERR
  11, // CORRUPT
  14, // CANTOPEN
  26, // NOTADB
]);

/** Why the store, its folder or one of its files does not work. */
export function toUnusable(error: unknown): AgentError {
  if (isFull(error)) {
    return new AgentError("STORE_FULL", "There is no space left for the store.", {
      fix: "Make space on its disk; what was accepted goes on by itself then.",
      cause: error,
    });
  }
  return new AgentError("STORE_UNUSABLE", `The store can not be used: ${publicMessageOf(error)}.`, {
    fix: "Check that its folder is a writable one and its files are intact SQLite databases, or set EVE_STORE to another folder.",
    cause: error,
  });
}

/** What went wrong inside the store, as one of its codes when it is not a fault of ours. */
export function toStoreProblem(error: unknown): unknown {
  const code = resultCodeOf(error);
  return isFull(error) || (code !== undefined && BROKEN.has(code)) ? toUnusable(error) : error;
}

/** The store does not work at the moment; what was tried may be tried again as it is. */
export function isStoreProblem(error: unknown): boolean {
  return AgentError.is(error, "STORE_FULL") || AgentError.is(error, "STORE_UNUSABLE");
}

function isFull(error: unknown): boolean {
  return resultCodeOf(error) === FULL || (error as { code?: unknown } | null | undefined)?.code === "ENOSPC";
}

/** The low byte is the code, the others say more of it. */
export function resultCodeOf(error: unknown): number | undefined {
  const code = (error as { errcode?: unknown } | null | undefined)?.errcode;
  return typeof code === "number" ? code & 0xff : undefined;
}
