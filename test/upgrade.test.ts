import { copyFileSync } from "node:fs";
import { createServer } from "node:http";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { json } from "node:stream/consumers";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { BuiltWorkspace } from "./support/build-workspace.ts";
import { checkRecall } from "./support/check-recall.ts";
import { checkStream, parseEvent, replyOf } from "./support/check-stream.ts";
import { CHECKS, type Upgraded } from "./support/check-upgrade.ts";
import { converse, eventsOf, say } from "./support/converse.ts";
import { readLines } from "./support/event-reader.ts";
import { repeated } from "./support/stream-problems.ts";
import {
  buildKeeper,
  buildLaterKeeper,
  createKeeper,
  hostsEnv,
  LATER_DESCRIPTION,
  readJournal,
} from "./support/keeper.ts";
import type { Member } from "./support/member.ts";
import { readRecordedStores, type RecordedSession } from "./support/recorded-store.ts";
import { tempFolder } from "./support/temp-folder.ts";

const STORES = readRecordedStores();
const BUILDS = [
  { build: "the same agent", create: buildKeeper, isLater: false },
  { build: "the agent as it was developed further", create: buildLaterKeeper, isLater: true },
];
/** Their models can not be asked: the sessions are over, or belong to another agent. */
const SILENT = ["ended", "accepted-reset", "child-at-tool"];

test("every state is in a store, and every state of a store has a check", () => {
  const states = new Set(STORES.flatMap(({ sessions }) => sessions.map(({ state }) => state)));
  expect([...states].toSorted()).toEqual(Object.keys(CHECKS).toSorted());
});

describe.each(BUILDS)("$build", ({ create, isLater }) => {
  let workspace: BuiltWorkspace;
  beforeAll(async () => void (workspace = await create()));
  afterAll(() => workspace?.[Symbol.dispose]());

  describe.each(STORES)("on the store $name", ({ database, sessions, tools }) => {
    const cleanup = new AsyncDisposableStack();
    const callbacks: Record<string, unknown>[] = [];
    let keeper: Member;
    let upgraded: Upgraded;
    const linesOf = ({ sessionId }: RecordedSession): Promise<string[]> =>
      readLines(`${keeper.api}/session/${sessionId}/stream?follow=false`);

    beforeAll(async () => {
      const journal = join(cleanup.use(tempFolder()).path, "journal");
      keeper = cleanup.use(await createKeeper(workspace, journal));
      const caller = createServer(async (request, response) => {
        callbacks.push((await json(request)) as Record<string, unknown>);
        response.writeHead(202).end();
      }).listen(0, "127.0.0.1");
      cleanup.defer(() => void caller.close());
      await once(caller, "listening");
      upgraded = { keeper, journal: () => readJournal(journal), callbacks };
      copyFileSync(database, join(keeper.store, "store.db"));
      // `lost` is somebody who does not know the session that it opened, `gone` can not be reached.
      const { origin } = keeper;
      const { port } = caller.address() as AddressInfo;
      const hosts = { keeper: origin, twin: origin, late: origin, lost: origin, caller: `http://127.0.0.1:${port}` };
      await keeper.start(hostsEnv(hosts));
    });
    afterAll(() => cleanup.disposeAsync());

    test.each(sessions)("$state: what was under way is finished", async (session) => {
      await CHECKS[session.state]!(session, upgraded);
    });

    test.each(sessions)("$state: the stream begins as it was read, byte for byte", async (session) => {
      const lines = await linesOf(session);
      expect(lines.slice(0, session.lines.length)).toEqual(session.lines);
      checkStream(lines.map(parseEvent));
    });

    test.each(sessions.filter(({ state }) => !SILENT.includes(state)))(
      "$state: the next message is answered by a model that knows all that was said",
      async ({ sessionId }) => {
        const { offered } = await checkRecall(keeper.api, sessionId);
        const tasks = ["agent", "eve__task_cancel", "eve__task_wait"];
        const files = ["bash", "read_file", "write_file"];
        const names = [...tasks, ...files, "book", "count", "gone", "helper", "late", "lost", "twin"].toSorted();
        expect(offered.map(({ name }) => name).toSorted()).toEqual(isLater ? [...names, "stamp"].toSorted() : names);
        const helper = offered.find(({ name }) => name === "helper");
        expect(helper!.description.startsWith(LATER_DESCRIPTION)).toBe(isLater);
        if (!isLater) return;
        await say(keeper.api, sessionId, "Stamp");
        expect(replyOf(await eventsOf(keeper.api, sessionId))).toBe("Stamped: a stamp");
      },
    );

    test("a tool that had ended does not run again, one that was stopped runs again with its key", () => {
      const ran = upgraded.journal().flatMap(({ kind, key }) => (kind === "tool" ? [key] : []));
      expect(repeated(ran)).toEqual([]);
      expect(tools.finished.filter((key) => ran.includes(key))).toEqual([]);
      const once = sessions.find(({ state }) => state === "at-tool-that-fails");
      const again = tools.running.filter((key) => !key.startsWith(once?.sessionId ?? " "));
      expect(tools.running.filter((key) => ran.includes(key))).toEqual(again);
    });

    test("after one more start nothing is done twice", async () => {
      const before = await Promise.all(sessions.map(linesOf));
      await keeper.stop();
      await keeper.start();
      await converse(keeper.api, "Hello after all");
      expect(await Promise.all(sessions.map(linesOf))).toEqual(before);
      const models = upgraded.journal().flatMap(({ kind, key }) => (kind === "model" ? [key] : []));
      expect(repeated(models)).toEqual([]);
      expect(callbacks.length).toBeLessThanOrEqual(1);
    });
  });
});
