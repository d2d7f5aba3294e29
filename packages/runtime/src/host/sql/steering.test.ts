import { monotonicFactory } from "ulid";
import { expect, onTestFinished, test } from "vitest";
import { opening, responded } from "../conformance/perform.fixture.ts";
import { until } from "../conformance/read-events.fixture.ts";
import { SURROUNDINGS } from "../conformance/world.fixture.ts";
import { createSqlHost } from "./host.ts";
import { openSqliteStore } from "./sqlite.ts";

test("steering: the first text that is shown and that the model has begun are one commit, the next text is not", async () => {
  let goOn = (): void => {};
  const gone = new Promise<void>((resolve) => (goOn = resolve));
  let release = (): void => {};
  const released = new Promise<void>((resolve) => (release = resolve));
  const ulid = monotonicFactory();
  const store = openSqliteStore(":memory:");
  const commits: string[][] = [];
  const host = createSqlHost({
    store: {
      ...store,
      commit: (commit) => {
        commits.push(commit.entries.map(({ entry }) => entry.type));
        return store.commit(commit);
      },
    },
    surroundings: ({ sessionId }) => ({
      ...SURROUNDINGS,
      sessionId,
      newSessionId: () => `ses_${ulid()}`,
      random: (length) => ulid().toLowerCase().slice(-length),
    }),
    newSessionId: () => `ses_${ulid()}`,
    newEventId: () => `evt_${ulid()}`,
    now: Date.now,
    onError: (error) => expect.fail(String(error)),
    perform: async (_effect, { state, stream }) => {
      const { turnId, sequence, stepIndex } = state.turn!;
      const data = { turnId, sequence, stepIndex };
      stream({ public: true, type: "message.appended", data: { ...data, messageDelta: "one" } });
      await gone;
      stream({ public: true, type: "message.appended", data: { ...data, messageDelta: "x".repeat(5_000) } });
      await released;
      return responded("one x");
    },
  });
  onTestFinished(() => host.close());
  const { sessionId } = await host.open({ input: opening("hi") });
  await until(host, sessionId, "message.appended");
  expect((await host.state(sessionId))?.turn?.spoke).toBe(true);
  expect(commits.at(-1)).toEqual(["message.appended", "output.began"]);
  const second = new Promise<void>((resolve) => host.subscribe(sessionId, resolve));
  goOn();
  await second;
  expect(commits.at(-1)).toEqual(["message.appended"]);
  release();
  await until(host, sessionId, "session.waiting");
});
