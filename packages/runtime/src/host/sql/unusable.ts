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

/** What the store's folder or one of its files does not allow. */
function toUnusable(error: unknown): AgentError {
  return new AgentError("STORE_UNUSABLE", `The store can not be used: ${publicMessageOf(error)}.`, {
    fix: "Check that its folder is a writable one and its files are intact SQLite databases, or set EVE_STORE to another folder.",
    cause: error,
  });
}

/** What went wrong inside the store, as one of its codes when it is not a fault of ours. */
export function toStoreProblem(error: unknown): unknown {
  const code = resultCodeOf(error);
  if (code === FULL || (error as NodeJS.ErrnoException | undefined)?.code === "ENOSPC") {
    return new AgentError("STORE_FULL", "There is no space left for the store.", {
      fix: "Make space on its disk; what was accepted goes on by itself then.",
      cause: error,
    });
  }
  return code !== undefined && BROKEN.has(code) ? toUnusable(error) : error;
}

/** Like {@link toStoreProblem}, of what opens a store: nothing that fails there is a fault of ours. */
export function toOpenProblem(error: unknown): AgentError {
  const problem = toStoreProblem(error);
  return AgentError.is(problem) ? problem : toUnusable(error);
}

/** The store does not work at the moment; what was tried may be tried again as it is. */
export function isStoreProblem(error: unknown): boolean {
  return AgentError.is(error, "STORE_FULL") || AgentError.is(error, "STORE_UNUSABLE");
}

/** The low byte is the code, the others say more of it. */
export function resultCodeOf(error: unknown): number | undefined {
  const code = (error as { errcode?: unknown } | null | undefined)?.errcode;
  return typeof code === "number" ? code & 0xff : undefined;
}
