import { createHash } from "node:crypto";
import { posix } from "node:path";
import { READS, type Sandbox, type SessionSandbox } from "../define/define-sandbox.ts";

/** Remembers that the session has seen this content of a file. */
export function markRead(sandbox: Sandbox, path: string, content: Uint8Array): void {
  readsOf(sandbox)?.set(toKey(path), digestOf(content));
}

/** Whether the session has seen a file as it is now. Never true for what a restart has made it forget. */
export function hasRead(sandbox: Sandbox, path: string, content: Uint8Array): boolean {
  return readsOf(sandbox)?.get(toKey(path)) === digestOf(content);
}

/** `undefined` for a sandbox that an author made up. */
function readsOf(sandbox: Sandbox): Map<string, string> | undefined {
  return (sandbox as Partial<SessionSandbox>)[READS];
}

function toKey(path: string): string {
  return posix.resolve("/workspace", path);
}

function digestOf(content: Uint8Array): string {
  return createHash("sha256").update(content).digest("base64");
}
