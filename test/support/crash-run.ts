import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { BuiltWorkspace } from "./build-workspace.ts";
import { followEvents, readLines } from "./event-reader.ts";
import { createMember, peerEnv, type Member } from "./member.ts";
import { postUntilAccepted } from "./post-json.ts";
import { isIdle, readStore, type StoreContent } from "./read-store.ts";
import { tempFolder } from "./temp-folder.ts";
import { until } from "./until.ts";

export const MESSAGE = "Ask research what a tide is, and let the reviewer check it";

/** No member stays away longer, and none needs longer to notice that another one is back. */
const ABSENCE_MS = 30_000;

export type Victim = "foreman" | "research";

export interface Crash {
  readonly victim: Victim;
  /** Which of its fault points kills it (`EVE_FAULT_AT`). 0: it is not even there when the conversation begins. */
  readonly at: number;
  /** The restart waits until this holds of what is there now, and what was there at the death. */
  readonly restartWhen?: (now: Traces, then: Traces) => boolean;
}

export interface Traces {
  readonly foreman: Trace;
  readonly research: Trace;
}

/** An effect that really ran, as `fixtures/record.ts` noted it. */
export interface Executed {
  readonly kind: "model" | "tool" | "request";
  readonly node: string;
  readonly key: string;
  readonly at: number;
}

export interface Trace {
  readonly store: StoreContent;
  readonly executed: readonly Executed[];
}

/** What was there when a member died. */
export interface Death extends Traces {
  /** `commit:before`, …, or `absent` */
  readonly point: string;
  /** Events that the client had read. */
  readonly read: number;
}

export interface CrashRun extends Traces {
  readonly accepted: { readonly sessionId: string; readonly deliveryId: string };
  /** What the client read, over all connections. */
  readonly lines: readonly string[];
  /** The whole stream, read again at the end. */
  readonly again: readonly string[];
  /** Absent when the run was over before the fault point was reached. */
  readonly death?: Death;
  /** From the restart until the client read `session.waiting`; 0 when it had read that before. */
  readonly recoveryMs: number;
}

/** One conversation in processes of its own, one of which kills itself at a fault point and is started again. */
export async function runConversation(workspace: BuiltWorkspace, crash?: Crash): Promise<CrashRun> {
  using notes = tempFolder();
  const journals = { foreman: join(notes.path, "foreman"), research: join(notes.path, "research") };
  await using research = await createMember("research", workspace.server("research"), {
    TEST_JOURNAL: journals.research,
  });
  await using foreman = await createMember("foreman", workspace.server("foreman"), {
    TEST_JOURNAL: journals.foreman,
    ...peerEnv(research),
  });
  const members = { foreman, research };
  const trace = (name: Victim): Trace => ({
    store: readStore(members[name].store),
    executed: readJournal(journals[name]),
  });
  const traces = (): Traces => ({ foreman: trace("foreman"), research: trace("research") });
  const faultOf = (name: Victim): Record<string, string> =>
    crash?.victim === name ? { EVE_FAULT_AT: String(crash.at) } : {};
  const first = [research, foreman].filter(({ name }) => crash?.at !== 0 || name !== crash.victim);
  await Promise.all(first.map((member) => member.start(faultOf(member.name as Victim))));

  let read = (): number => 0;
  let over = false;
  let death: Death | undefined;
  let restartedAt: number | undefined;
  let ready = crash === undefined;
  const survive = async ({ victim, at, restartWhen = () => true }: Crash): Promise<void> => {
    const member = members[victim];
    ready = true;
    await member.gone();
    if (over) return;
    ready = false;
    const point = at === 0 ? "absent" : new RegExp(`^fault ${at}: (\\S+)$`, "m").exec(member.log)?.[1];
    if (point === undefined) throw new Error(`${victim} died by itself: ${member.log}`);
    const then = traces();
    death = { point, read: read(), ...then };
    await until(`time to restart ${victim}`, () => restartWhen(traces(), then), { timeoutMs: ABSENCE_MS });
    restartedAt = performance.now();
    await member.start();
    ready = true;
  };
  let failure: unknown;
  const surviving = crash && survive(crash).catch((error: unknown) => void (failure = error));

  try {
    const { body } = await postUntilAccepted(`${foreman.api}/session`, {
      message: MESSAGE,
      operationId: "conversation-1",
    });
    const accepted = { sessionId: String(body.sessionId), deliveryId: String(body.deliveryId) };
    const stream = `${foreman.api}/session/${accepted.sessionId}/stream`;
    await using reader = followEvents(stream);
    read = () => reader.events.length;
    await reader.untilEvent("session.waiting", ({ event }) => event.type === "session.waiting", {
      timeoutMs: ABSENCE_MS + 20_000,
    });
    const recoveryMs = restartedAt === undefined ? 0 : performance.now() - restartedAt;
    // A fault point may come after the last event, so the run ends when nobody has anything left to do.
    await until(
      "both members are idle",
      async () => {
        if (failure !== undefined) throw failure;
        return (
          ready &&
          isIdle(foreman.store) &&
          isIdle(research.store) &&
          (await answers(foreman)) &&
          (await answers(research))
        );
      },
      { timeoutMs: ABSENCE_MS },
    );
    const lines = reader.events.map(({ line }) => line);
    const again = await readLines(`${stream}?follow=false`);
    over = true;
    return { accepted, lines, again, recoveryMs, ...traces(), ...(death === undefined ? {} : { death }) };
  } catch (error) {
    const logs = [foreman.log, research.log].join("").trim();
    throw new Error(
      `${(failure ?? error) instanceof Error ? ((failure ?? error) as Error).message : String(error)}\n${logs}`,
      { cause: error },
    );
  } finally {
    over = true;
    await Promise.all([foreman.kill(), research.kill()]);
    await surviving;
  }
}

/** A fault that is due right after a commit has struck when this is true. */
async function answers(member: Member): Promise<boolean> {
  const response = await fetch(`${member.api}/health`).catch(() => undefined);
  return response?.ok === true && member.running();
}

function readJournal(path: string): Executed[] {
  if (!existsSync(path)) return [];
  return readFileSync(path, "utf8")
    .split("\n")
    .flatMap((line) => (line === "" ? [] : [JSON.parse(line) as Executed]));
}
