import { expect, it } from "vitest";
import { wrapDelegation } from "../../engine/text.ts";
import { readList, renderList, toJsonList } from "./list.ts";
import { readerOf, START, told } from "./store.fixture.ts";

const reader = readerOf([
  { sessionId: "ses_1", events: told("the first\nof them") },
  { sessionId: "ses_2", minute: 1, status: "ended" },
  {
    sessionId: "ses_2a",
    agentName: "helper",
    minute: 2,
    parentSessionId: "ses_2",
    events: told(wrapDelegation("help")),
  },
  { sessionId: "ses_2aa", agentName: "helper", minute: 2, parentSessionId: "ses_2a", status: "working" },
  { sessionId: "ses_3", minute: 3, events: told("x".repeat(100)) },
  { sessionId: "ses_4", minute: 4, status: "working", events: told("\u001b[31mred") },
]);
const ALL = { limit: 20, status: undefined, all: false } as const;
const idsOf = (sessions: readonly { readonly head: { readonly sessionId: string } }[]): string[] =>
  sessions.map(({ head }) => head.sessionId);

it("lists the newest first, up to a limit, over any number of pages", async () => {
  expect(await readList(reader, ALL).then(({ sessions, more }) => [idsOf(sessions), more])).toEqual([
    ["ses_4", "ses_3", "ses_2", "ses_1"],
    false,
  ]);
  expect(await readList(reader, { ...ALL, limit: 3 }).then(({ sessions, more }) => [idsOf(sessions), more])).toEqual([
    ["ses_4", "ses_3", "ses_2"],
    true,
  ]);
  expect((await readList(reader, { ...ALL, limit: 4 })).more).toBe(false);
});

it("looks through all of them for a status, and says of no more than there are", async () => {
  expect(
    await readList(reader, { ...ALL, status: "ended", limit: 1 }).then(({ sessions, more }) => [idsOf(sessions), more]),
  ).toEqual([["ses_2"], false]);
});

it("is a table, with those below a session indented", async () => {
  const { sessions } = await readList(reader, { ...ALL, all: true });
  expect(renderList(sessions, START + 5 * 60_000)).toEqual([
    "id           agent   status   age    events  first message",
    "ses_4        lead    working  1 min       3  \\u{1b}[31mred",
    `ses_3        lead    waiting  2 min       3  ${"x".repeat(59)}…`,
    "ses_2        lead    ended    4 min       0",
    "  ses_2a     helper  waiting  3 min       3  help",
    "    ses_2aa  helper  working  3 min       0",
    "ses_1        lead    waiting  5 min       3  the first of them",
  ]);
});

it("is JSON with whole messages, and children when they are asked for", async () => {
  const { sessions } = await readList(reader, { ...ALL, all: true });
  const json = toJsonList(sessions, true);
  expect(json[1]).toMatchObject({ sessionId: "ses_3", message: "x".repeat(100), children: [] });
  expect(json[2]).toMatchObject({
    sessionId: "ses_2",
    createdAt: "2026-12-01T10:01:00.000Z",
    events: 0,
    children: [{ sessionId: "ses_2a", parentSessionId: "ses_2", children: [{ sessionId: "ses_2aa" }] }],
  });
  expect(json[2]).not.toHaveProperty("message");
  expect(toJsonList(sessions, false)[2]).not.toHaveProperty("children");
});
