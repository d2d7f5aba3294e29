import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { StreamEvent } from "../../packages/runtime/src/protocol/events.ts";
import type { BuiltWorkspace } from "../support/build-workspace.ts";
import { createKeeper, hostsEnv, readJournal } from "../support/keeper.ts";
import type { Member } from "../support/member.ts";
import { saveRecordedStore, type Expected, type RecordedSession } from "../support/recorded-store.ts";
import { tempFolder } from "../support/temp-folder.ts";
import { until } from "../support/until.ts";
import { follow, open, type Followed } from "./follow.ts";
import { startSilentAgent, type SilentAgent } from "./silent-agent.ts";

/** Records one store with a session in every state that lasts: parked, at work, waiting for somebody. */
export async function recordAtWork(name: string, workspace: BuiltWorkspace): Promise<void> {
  using notes = tempFolder();
  const journal = join(notes.path, "journal");
  const gate = join(notes.path, "gate");
  await using elsewhere = await startSilentAgent();
  await using keeper = await createKeeper(workspace, journal, { TEST_GATE: gate });
  const { origin } = keeper;
  await keeper.start(hostsEnv({ keeper: origin, twin: origin, lost: elsewhere.origin, gone: elsewhere.origin }));

  writeFileSync(gate, "");
  const parked = await recordParked(keeper);
  rmSync(gate);
  const atWork = await recordWorking(keeper, elsewhere, (key) =>
    until(`${key} is noted`, () => readJournal(journal).some((noted) => noted.key.includes(key))),
  );
  await keeper.kill();
  const sessions = [...parked, ...atWork].map((session) => session.recorded());
  await Promise.all([...parked, ...atWork].map((session) => session[Symbol.asyncDispose]()));
  const keys = readJournal(journal).flatMap(({ kind, key }) => (kind === "tool" ? [key] : []));
  saveRecordedStore(name, keeper.store, { sessions, tools: toTools(keys, sessions) });
}

async function recordParked(keeper: Member): Promise<Followed[]> {
  const sessions: Followed[] = [];
  const start = async (state: string, body: object, details: object = {}): Promise<Followed> => {
    const session = await open(keeper, { state, ...details }, { ...body });
    sessions.push(session);
    return session;
  };

  await start("prewarmed", {});
  const operation = { operationId: "plain", message: "Hello 1" };
  const plain = await start("parked-plain", {}, { operation });
  await plain.until("session.waiting");
  await plain.say("Think it over");
  await plain.say([
    { type: "text", text: "Hello with a file" },
    { type: "file", mediaType: "text/plain", data: "YQ==", filename: "a.txt" },
  ]);

  const delegated = await start("parked-delegated", { message: "Count for me" });
  await delegated.until("session.waiting");
  await delegated.say("Ask helper");
  await delegated.say("Hello again");

  const failed = await start("failed-turn", { message: "Fail" });
  await failed.until("session.waiting");

  const ended = await start("ended", { message: "Ask helper" });
  await ended.until("session.waiting");
  await ended.post("/reset", { reason: "no longer needed" });
  await ended.until("session.completed");

  const url = "http://caller.test/callback/secret";
  const callback = { callId: "call_far", subagentName: "keeper", token: "a-token-of-some-length", url };
  const called = await start("callback-unsent", { message: "Hello from afar", callback }, { callId: callback.callId });
  await called.until("session.waiting");
  return sessions;
}

async function recordWorking(
  keeper: Member,
  elsewhere: SilentAgent,
  isNoted: (key: string) => Promise<unknown>,
): Promise<Followed[]> {
  const sessions: Followed[] = [];
  const start = async (state: string, message: string): Promise<Followed> => {
    const session = await open(keeper, { state }, { message });
    sessions.push(session);
    return session;
  };
  const followChild = async (state: string, parent: Followed, count = 1): Promise<Followed> => {
    const event = await parent.until("agent.started", count);
    const child = follow(keeper, { state }, event.type === "agent.started" ? event.data.sessionId : "");
    sessions.push(child);
    return child;
  };

  const speaking = await start("at-model", "Speak slowly");
  await speaking.until("message.appended");
  for (const [state, message] of [
    ["at-tool", "Count slowly"],
    ["at-tool-that-fails", "Book slowly"],
  ] as const) {
    const { sessionId } = await start(state, message);
    await isNoted(sessionId);
  }

  const stopped = await start("cancelled-turn", "Count for nothing");
  await isNoted(stopped.sessionId);
  await stopped.post("/cancel", {});
  await stopped.until("session.waiting");

  const busy = await start("messages-wait", "Count first");
  await isNoted(busy.sessionId);
  await busy.post("", { message: "Steer" });
  await busy.post("", { message: "Wait", turnPolicy: "queue" });

  const held = await start("held", "Ask both");
  const child = await followChild("child-at-tool", held, 2);
  await isNoted(child.sessionId);
  await held.until("turn.waiting", 2);

  const caller = await start("remote-at-work", "Ask twin");
  const twin = await followChild("opened-by-remote", caller);
  await isNoted(twin.sessionId);
  await caller.until("turn.waiting");

  for (const [state, message] of [
    ["remote-forgot", "Ask lost"],
    ["remote-left", "Ask gone"],
    ["remote-calls-back", "Ask gone"],
    ["remote-uncancelled", "Ask lost"],
  ] as const) {
    const session = await start(state, message);
    await session.until("agent.started");
    await session.until("turn.waiting");
    session.keep({ callbackPath: new URL(elsewhere.callbackUrl).pathname });
  }
  await elsewhere[Symbol.asyncDispose]();
  const uncancelled = sessions.at(-1)!;
  await uncancelled.post("/cancel", {});
  await uncancelled.until("session.waiting");
  await isNoted("/cancel");

  const unsent = await start("remote-unsent", "Ask late");
  await unsent.until("turn.waiting");
  return sessions;
}

/** A call that has a result, or whose turn is over, is not to be run again. */
function toTools(keys: readonly string[], sessions: readonly RecordedSession[]): Expected["tools"] {
  const isRunning = (key: string): boolean => {
    const [sessionId, turnId, callId] = key.split(":");
    // The children that are not recorded are those of turns that are over.
    const events = sessions.find((recorded) => recorded.sessionId === sessionId)?.lines.map(toEvent);
    return events !== undefined && !events.some((event) => callOf(event) === callId || endedTurnOf(event) === turnId);
  };
  return { finished: keys.filter((key) => !isRunning(key)), running: keys.filter(isRunning) };
}

function toEvent(line: string): StreamEvent {
  return JSON.parse(line) as StreamEvent;
}

function callOf({ type, data }: StreamEvent): string | undefined {
  return type === "action.result" ? data.result.callId : undefined;
}

function endedTurnOf({ type, data }: StreamEvent): string | undefined {
  return type === "turn.completed" || type === "turn.failed" || type === "turn.cancelled" ? data.turnId : undefined;
}
