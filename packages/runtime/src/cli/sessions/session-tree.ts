import type { SessionHead } from "../../engine/ports.ts";
import type { StoreReader } from "../../host/sql/store.ts";

/** A session with those that it started in the same store. */
export interface SessionTree {
  readonly head: SessionHead;
  readonly children: readonly SessionTree[];
}

/** Reads what there is below a session. */
export async function readTree(
  store: Pick<StoreReader, "head" | "descendants">,
  root: SessionHead,
): Promise<SessionTree> {
  const below = new Map<string, SessionHead[]>();
  for (const id of await store.descendants(root.sessionId)) {
    const head = await store.head(id);
    // Deleted meanwhile.
    if (head?.parentSessionId === undefined) continue;
    below.set(head.parentSessionId, [...(below.get(head.parentSessionId) ?? []), head]);
  }
  const toTree = (head: SessionHead): SessionTree => ({
    head,
    children: (below.get(head.sessionId) ?? []).map(toTree),
  });
  return toTree(root);
}
