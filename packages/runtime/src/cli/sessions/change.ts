import type { StoreReader } from "../../host/sql/store.ts";
import { AgentError } from "../../errors.ts";
import { usageError } from "../usage-error.ts";
import { confirm } from "./confirm.ts";
import { findSession } from "./find-session.ts";
import type { StorePlace } from "./locate-store.ts";
import { withOperator, type Operator } from "./operate.ts";
import type { DeleteOptions, ForkOptions, RetryOptions } from "./parse-command.ts";

/** What a command changes, and where it says so. */
export interface Change {
  readonly place: StorePlace;
  readonly store: StoreReader;
  readonly print: (line: string) => void;
}

/** `eve sessions delete`: all or, before the first is deleted, none. */
export async function deleteSessions(change: Change, { ids, yes, json }: DeleteOptions): Promise<number> {
  const { store, print } = change;
  const roots = new Set<string>();
  let below = 0;
  for (const id of ids) {
    const { sessionId, parentSessionId } = await findSession(store, id);
    if (parentSessionId !== undefined) {
      throw new AgentError("BAD_REQUEST", `${sessionId} belongs to ${parentSessionId}, which started it.`, {
        fix: "Delete that one: this one goes with it.",
      });
    }
    if (roots.has(sessionId)) continue;
    roots.add(sessionId);
    below += (await store.descendants(sessionId)).length;
  }
  const what = `${[...roots].join(", ")}${below === 0 ? "" : ` and ${below} below`}`;
  if (!yes) {
    if (!process.stdin.isTTY || !process.stderr.isTTY) {
      throw usageError(`nobody can be asked here whether to delete ${what}: say --yes.`);
    }
    if (!(await confirm(`Delete ${what} for good?`, process.stdin, process.stderr))) {
      console.error("Nothing was deleted.");
      return 1;
    }
  }
  await withOperator(change.place, store, async (operator) => {
    for (const sessionId of roots) {
      await operator.send({ method: "DELETE", path: sessionId });
      if (!json) print(`deleted ${sessionId}`);
    }
  });
  if (json) print(JSON.stringify({ deleted: [...roots] }));
  return 0;
}

/** `eve sessions retry`: does the last turn again, if it failed. */
export async function retrySession({ place, store, print }: Change, { id, json }: RetryOptions): Promise<number> {
  const { sessionId } = await findSession(store, id);
  return withOperator(place, store, async (operator) => {
    const { turnId } = await operator.send({ method: "POST", path: `${sessionId}/retry`, body: {} });
    const { running } = operator;
    print(json ? JSON.stringify({ sessionId, turnId, running }) : `retry: ${sessionId} ${turnId}${whenOf(operator)}`);
    return 0;
  });
}

/** `eve sessions fork`: a new session that goes on from an event of another one. */
export async function forkSession({ place, store, print }: Change, { id, at, json }: ForkOptions): Promise<number> {
  const { sessionId: forked } = await findSession(store, id);
  return withOperator(place, store, async (operator) => {
    const body = at === undefined ? {} : { at };
    const { sessionId } = await operator.send({ method: "POST", path: `${forked}/fork`, body });
    const { running } = operator;
    print(json ? JSON.stringify({ sessionId, forked, running }) : `fork: ${sessionId}${whenOf(operator)}`);
    return 0;
  });
}

function whenOf({ running }: Operator): string {
  return running ? "" : " (begins when the member starts)";
}
