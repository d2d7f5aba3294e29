import { expect, onTestFinished, test } from "vitest";
import type { Effect } from "../engine/decide.ts";
import type { EffectInput } from "../engine/input.ts";
import type { Perform } from "../engine/ports.ts";
import { calling, delegating, opening, reply, responded } from "../host/conformance/perform.fixture.ts";
import { createSqlHost } from "../host/sql/host.ts";
import { openSqliteStore } from "../host/sql/sqlite.ts";
import { isQuiet } from "./is-quiet.ts";

function start(perform: Perform) {
  const store = openSqliteStore(":memory:");
  let count = 0;
  const host = createSqlHost({
    store,
    perform,
    surroundings: ({ sessionId }) => ({
      sessionId,
      modelId: "m",
      eveVersion: "0",
      base: "/eve/a/v1",
      newSessionId: () => `ses_${++count}`,
      random: (length) => String(++count).padStart(length, "0"),
    }),
    newSessionId: () => `ses_${++count}`,
    newEventId: () => `evt_${++count}`,
    now: () => 0,
    onError: (error) => expect.unreachable(String(error)),
  });
  onTestFinished(() => host.close());
  return {
    quiet: () => isQuiet(host, store),
    hasTurn: async (sessionId: string) => (await host.state(sessionId))?.turn !== undefined,
    open: async (text?: string) => (await host.open({ input: opening(text) })).sessionId,
    untilWaiting: (sessionId: string) =>
      new Promise<void>((resolve) => {
        const look = async (): Promise<void> => {
          const state = await host.state(sessionId);
          if (state?.turn === undefined) resolve();
        };
        host.subscribe(sessionId, () => void look());
        void look();
      }),
  };
}

/** Effects that are begun, and end when the test says so. */
function held() {
  const begun = new Map<Effect["kind"], (input: EffectInput) => void>();
  const changes: (() => void)[] = [];
  const perform: Perform = ({ kind }) =>
    new Promise((resolve) => {
      begun.set(kind, resolve);
      for (const change of changes.splice(0)) change();
    });
  const until = async (kind: Effect["kind"]): Promise<(input: EffectInput) => void> => {
    while (!begun.has(kind)) await new Promise<void>((resolve) => changes.push(resolve));
    const settle = begun.get(kind)!;
    begun.delete(kind);
    return settle;
  };
  return { perform, until };
}

test("nothing was ever asked, or what was is answered", async () => {
  const { open, quiet, untilWaiting } = start(reply(() => "done"));
  expect(await quiet()).toBe(true);
  await open();
  expect(await quiet()).toBe(true);
  await untilWaiting(await open("hello"));
  expect(await quiet()).toBe(true);
});

test("a message that was only accepted is work", async () => {
  const { open, quiet } = start(() => new Promise(() => {}));
  await open("hello");
  expect(await quiet()).toBe(false);
});

test("a model call and each of its tools are work, and so is what comes between them", async () => {
  const { perform, until } = held();
  const { open, quiet, untilWaiting } = start(perform);
  const sessionId = await open("hello");
  const respond = await until("model");
  expect(await quiet()).toBe(false);
  respond(calling(["c1"]));
  // Not a moment in which the model has ended and the tool has not begun.
  expect(await quiet()).toBe(false);
  const settle = await until("tool");
  expect(await quiet()).toBe(false);
  settle({ kind: "tool.settled", callId: "c1", status: "completed", output: null });
  expect(await quiet()).toBe(false);
  (await until("model"))(responded("done"));
  await untilWaiting(sessionId);
  expect(await quiet()).toBe(true);
});

test("a session that waits for its child is as busy as the child", async () => {
  const { open, quiet } = start(delegating({ hangInChild: true }));
  await open("hello");
  expect(await quiet()).toBe(false);
});

test("what wakes another session leaves no moment of quiet between the two", async () => {
  const { open, quiet, hasTurn } = start(delegating());
  const sessionId = await open("hello");
  while (!(await quiet()));
  expect(await hasTurn(sessionId)).toBe(false);
});
