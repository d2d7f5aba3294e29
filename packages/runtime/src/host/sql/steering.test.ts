import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { monotonicFactory } from "ulid";
import { afterEach, describe, expect, test } from "vitest";
import type { Host, Perform } from "../../engine/ports.ts";
import { SURROUNDINGS, type World } from "../conformance.fixture.ts";
import { opening, responded } from "../perform.fixture.ts";
import { until } from "../read-events.fixture.ts";
import { testSteering } from "../steering.fixture.ts";
import { createSqlHost } from "./host.ts";
import { openSqliteStore } from "./sqlite.ts";

describe("host conformance: sqlite", () => {
  const folders: string[] = [];
  const hosts: Host[] = [];
  const commits: string[][] = [];
  const ulid = monotonicFactory();
  afterEach(async () => {
    await Promise.all(hosts.splice(0).map((host) => host.close()));
    for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
    commits.splice(0);
  });

  const newWorld = async (): Promise<World> => {
    const folder = mkdtempSync(join(tmpdir(), "eve-host-"));
    folders.push(folder);
    return { open: (perform) => start(join(folder, "store.db"), perform), dispose: async () => {} };
  };
  const start = async (file: string, perform: Perform): Promise<Host> => {
    const store = openSqliteStore(file);
    const host = createSqlHost({
      store: {
        ...store,
        commit: (commit) => {
          commits.push(commit.entries.map(({ entry }) => entry.type));
          return store.commit(commit);
        },
      },
      perform,
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
      retryMs: 10,
    });
    await host.start();
    return host;
  };
  const open = async (world: World, perform: Perform): Promise<Host> => {
    const host = await world.open(perform);
    hosts.push(host);
    return host;
  };
  const crash = async (host: Host): Promise<void> => {
    hosts.splice(hosts.indexOf(host), 1);
    await host.close();
  };

  testSteering({ newWorld, open, crash });

  test("steering: the first text that is shown and that the model has begun are one commit, the next text is not", async () => {
    let goOn = (): void => {};
    const gone = new Promise<void>((resolve) => (goOn = resolve));
    let release = (): void => {};
    const released = new Promise<void>((resolve) => (release = resolve));
    const host = await open(await newWorld(), async (_effect, { state, stream }) => {
      const { turnId, sequence, stepIndex } = state.turn!;
      const data = { turnId, sequence, stepIndex };
      stream({ public: true, type: "message.appended", data: { ...data, messageDelta: "one" } });
      await gone;
      stream({ public: true, type: "message.appended", data: { ...data, messageDelta: "x".repeat(5_000) } });
      await released;
      return responded("one x");
    });
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
});
