import type { Store } from "./store.ts";
import { toStoreProblem } from "./unusable.ts";

/** The same store, which says in a code of its own that it is full, damaged or read-only. */
export function explainProblems(store: Store): Store {
  const methods = Object.entries(store).map(([name, method]) => [name, explained(method as Method)]);
  return Object.fromEntries(methods) as Store;
}

type Method = (...args: unknown[]) => unknown;

function explained(method: Method): Method {
  return (...args) => {
    try {
      return method(...args);
    } catch (error) {
      throw toStoreProblem(error);
    }
  };
}
