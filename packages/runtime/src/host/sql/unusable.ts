import { AgentError, publicMessageOf } from "../../errors.ts";

/** What the store's folder or one of its files does not allow. */
export function toUnusable(error: unknown): AgentError {
  return new AgentError("STORE_UNUSABLE", `The store can not be used: ${publicMessageOf(error)}.`, {
    fix: "Check that its folder is a writable one and its files are intact SQLite databases, or set EVE_STORE to another folder.",
    cause: error,
  });
}
