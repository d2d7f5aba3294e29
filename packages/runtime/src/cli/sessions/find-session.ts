import type { SessionHead } from "../../engine/ports.ts";
import { AgentError } from "../../errors.ts";
import type { StoreReader } from "../../host/sql/store.ts";

/** How many of several sessions are named. */
const NAMED = 4;

/**
 * The session of an id, or of a beginning of one that no other has; `ses_` may be left out.
 *
 * @throws AgentError `NOT_FOUND`, `BAD_REQUEST` when several begin so.
 */
export async function findSession(
  store: Pick<StoreReader, "head" | "startingWith">,
  given: string,
): Promise<SessionHead> {
  const ids = await withBeginning(store, given);
  const id = ids.find((known) => known === given) ?? (ids.length === 1 ? ids[0] : undefined);
  const head = id === undefined ? undefined : await store.head(id);
  if (head !== undefined) return head;
  if (ids.length > 1) {
    const named = `${ids.slice(0, NAMED).join(", ")}${ids.length > NAMED ? ", …" : ""}`;
    throw new AgentError("BAD_REQUEST", `Several sessions begin with "${given}": ${named}.`, {
      fix: "Write more of the id.",
    });
  }
  throw new AgentError("NOT_FOUND", `There is no session "${given}" in this store.`, {
    fix: "Look for it with `eve sessions --all`.",
  });
}

async function withBeginning(store: Pick<StoreReader, "startingWith">, given: string): Promise<readonly string[]> {
  const ids = await store.startingWith(given, NAMED + 1);
  if (ids.length > 0 || given.startsWith("ses_")) return ids;
  return store.startingWith(`ses_${given.toUpperCase()}`, NAMED + 1);
}
