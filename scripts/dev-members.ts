import { setTimeout as delay } from "node:timers/promises";
import { toConversation } from "../packages/runtime/src/cli/conversation.ts";

export interface MemberAnswer {
  readonly name: string;
  readonly url: string;
  /** `broken`: it does not build or crashes at start; it answers as soon as that is repaired. */
  readonly status: "ready" | "broken";
  readonly error?: string;
}

const POLL_MS = 200;
const REMIND_MS = 30_000;

/** Waits until every member answers its health check, or says why it can not. */
export async function whenAnswering(
  members: readonly string[],
  origin: string,
  signal: AbortSignal,
): Promise<readonly MemberAnswer[]> {
  return Promise.all(
    members.map(async (name) => {
      const url = `${origin}/eve/${name}/v1`;
      for (let since = performance.now(); !signal.aborted; await delay(POLL_MS)) {
        const answer = await ask(name, url);
        if (answer) return answer;
        if (performance.now() - since < REMIND_MS) continue;
        process.stderr.write(`Still waiting for ${url}/health\n`);
        since = performance.now();
      }
      return { name, url, status: "broken", error: "It did not answer." };
    }),
  );
}

async function ask(name: string, url: string): Promise<MemberAnswer | undefined> {
  try {
    const response = await fetch(`${url}/health`, { signal: AbortSignal.timeout(5000), redirect: "error" });
    const body = (await response.json()) as { ok?: boolean; code?: string; error?: string };
    if (response.ok && body.ok === true) return { name, url, status: "ready" };
    if (body.code === "MEMBER_UNAVAILABLE") return { name, url, status: "broken", error: body.error ?? "" };
  } catch {
    // Not listening yet.
  }
  return undefined;
}

/** Prints where the members are, and a first conversation to paste. */
export function printMembers(members: readonly MemberAnswer[], origin: string, json: boolean): void {
  if (json) {
    process.stdout.write(`${JSON.stringify({ origin, members })}\n`);
    return;
  }
  const width = Math.max(...members.map(({ name }) => name.length), "member".length);
  const row = (name: string, status: string, url: string) => `  ${name.padEnd(width)}  ${status.padEnd(6)}  ${url}`;
  const first = members.find(({ name }) => name === "foreman") ?? members[0];
  const lines = [
    "",
    row("member", "status", "url"),
    ...members.map(({ name, status, url }) => row(name, status, url)),
    ...members.flatMap(({ name, error }) => (error ? ["", `  ${name}: ${error}`] : [])),
    "",
    ...(first ? toConversation(first.name, first.url) : []),
  ];
  process.stdout.write(`${lines.join("\n")}\n`);
}
