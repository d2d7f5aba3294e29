import { READS, type Sandbox, type SessionSandbox } from "../define/define-sandbox.ts";

/** Sessions whose reads are remembered; what is forgotten has to be read again before it is written over. */
const MAX_SESSIONS = 500;

/** Gives every session its own view of a sandbox: two that share one have not read the same files. */
export function createSessionViews(): {
  of(sessionId: string, sandbox: Sandbox): SessionSandbox;
  forget(sessionId: string): void;
} {
  const reads = new Map<string, Map<string, string>>();
  return {
    of: (sessionId, sandbox) => {
      const own = reads.get(sessionId) ?? new Map<string, string>();
      // Moved to the end: the map's order is the order of use.
      reads.delete(sessionId);
      reads.set(sessionId, own);
      if (reads.size > MAX_SESSIONS) reads.delete(reads.keys().next().value!);
      return toView(sandbox, own);
    },
    forget: (sessionId) => void reads.delete(sessionId),
  };
}

/** Calls the sandbox, and copies nothing: a provider may give an object of a class. */
function toView(sandbox: Sandbox, reads: Map<string, string>): SessionSandbox {
  return {
    id: sandbox.id,
    run: (options) => sandbox.run(options),
    readFile: (options) => sandbox.readFile(options),
    readTextFile: (options) => sandbox.readTextFile(options),
    writeFile: (options) => sandbox.writeFile(options),
    writeTextFile: (options) => sandbox.writeTextFile(options),
    stat: (options) => sandbox.stat(options),
    list: (options) => sandbox.list(options),
    remove: (options) => sandbox.remove(options),
    [READS]: reads,
  };
}
