import { expect } from "vitest";
import { toModelMessages } from "../effects/to-model-messages.ts";
import type { Entry } from "./entry.ts";
import { textOf } from "./entry.ts";
import { contextOf } from "./history.ts";
import type { SessionState } from "./state.ts";
import { TASKS_NOTE } from "./text.ts";
import type { SimSession, Step } from "./world.fixture.ts";

interface Shown {
  /** The messages of the last prompt. */
  last: readonly string[];
  /** Something has happened since that takes back what the model has read. */
  forgot: boolean;
  /** What messages said for the turn under way, or for the failed one. */
  context: string[];
  /** Messages that the model has not answered to. */
  unread: string[];
}

/** Watches what the models of a world are asked with, and fails at the first prompt that breaks a promise. */
export function createPromptCheck(): (session: SimSession, step: Step) => void {
  const prompts = new Map<string, Shown>();
  return ({ id }, { entries, after }) => {
    const shown = prompts.get(id) ?? { last: [], forgot: false, context: [], unread: [] };
    prompts.set(id, shown);
    for (const entry of entries) follow(shown, entry);
    if (after?.turn?.phase !== "model" || !entries.some(({ type }) => type === "step.started")) return;
    const prompt = toModelMessages(after.history).map(toText);
    const changed = shown.forgot ? undefined : shown.last.find((text, index) => prompt[index] !== text);
    insist(changed === undefined, "what the model has read is not what it was", [changed, prompt]);
    shown.last = prompt;
    shown.forgot = false;
    checkPrompt(shown, after);
  };
}

function follow(shown: Shown, entry: Entry): void {
  switch (entry.type) {
    case "turn.started":
      if (entry.data.retryOf !== undefined) break;
      shown.context = [];
      shown.unread = [];
      break;
    case "message.received":
      shown.context.push(...(entry.inner!.context ?? []));
      shown.unread.push(textOf(entry.data.parts));
      break;
    case "step.completed":
      shown.unread = [];
      break;
    case "turn.completed":
    case "turn.cancelled":
    case "turn.failed":
      shown.forgot ||= shown.context.length > 0 || entry.type === "turn.failed";
      if (entry.type === "turn.failed") break;
      shown.context = [];
      shown.unread = [];
      break;
    case "compaction.completed":
      shown.forgot = true;
      break;
    case "context.cleared":
      Object.assign(shown, { last: [], forgot: true, context: [], unread: [] });
  }
}

function checkPrompt({ last, context, unread }: Shown, { history, tasks }: SessionState): void {
  const said = history.flatMap((item) => (item.role === "user" ? [textOf(item.parts)] : []));
  insist(new Set(said).size === said.length, "a message is read twice", said);
  for (const text of unread) insist(said.includes(text), "a message was forgotten before it was answered", text);
  const known = contextOf(history).toSorted().join();
  insist(known === context.toSorted().join(), "context is for its turn, and for all of it", [known, context]);
  insist(!last.at(-1)!.startsWith('{"role":"assistant"'), "the model is asked to go on with its own words", last);
  const asked = history.flatMap((item) => (item.role === "assistant" ? item.calls : [])).map(({ callId }) => callId);
  const answered = history.flatMap((item) => (item.role === "tool" ? [item.callId] : []));
  insist(new Set(asked).size === asked.length, "an id names two calls", asked);
  insist(new Set(answered).size === answered.length, "a call has two results", answered);
  const calls = new Set(asked);
  for (const callId of answered) insist(calls.has(callId), "a result of a call that was forgotten", callId);
  if (Object.values(tasks).every(({ status }) => status === "ended")) return;
  const noted = history.some((item) => item.role === "note" && item.text.startsWith(TASKS_NOTE));
  insist(noted, "tasks that the model is not told of", Object.keys(tasks));
}

/** `expect` for what is checked a million times. */
function insist(holds: boolean, promise: string, found: unknown): void {
  if (!holds) expect.fail(`${promise}: ${JSON.stringify(found)}`);
}

/** Messages are converted once, and so are their texts. */
const texts = new WeakMap<object, string>();

function toText(message: object): string {
  const known = texts.get(message) ?? JSON.stringify(message);
  texts.set(message, known);
  return known;
}
