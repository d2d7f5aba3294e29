import { expect, it } from "vitest";
import { readTree } from "./session-tree.ts";
import { renderSession, toJsonSession } from "./show.ts";
import { readerOf, saying, started, told } from "./store.fixture.ts";

const LONG = `${"a".repeat(399)}\u001b${"b".repeat(10)}`;
const reader = readerOf([
  {
    sessionId: "ses_1",
    events: [
      ...told("two\nlines"),
      started("helper", "ses_1a"),
      started("far", "ses_far"),
      saying(LONG),
      saying("end"),
    ],
  },
  { sessionId: "ses_1a", agentName: "helper", parentSessionId: "ses_1", events: [saying("helped")] },
  { sessionId: "ses_1b", agentName: "helper", parentSessionId: "ses_1" },
]);
const tree = await readTree(reader, (await reader.head("ses_1"))!);

async function show(full: boolean): Promise<string[]> {
  const lines: string[] = [];
  for await (const line of renderSession(reader, tree, { full })) lines.push(line);
  return lines;
}

it("is the conversation, with each session that it started where it started it", async () => {
  expect(await show(false)).toEqual([
    "ses_1  lead  waiting  7 events  2026-12-01 10:00:00 to 2026-12-01 10:01:00 UTC",
    "1  10:00:01  turn     turn_0",
    "2  10:00:02  message  two",
    "                      lines",
    "3  10:00:03  agent    helper ses_1a",
    "    ses_1a  helper  waiting  1 events  2026-12-01 10:00:00 to 2026-12-01 10:01:00 UTC",
    "    0  10:00:00  says     helped",
    "4  10:00:04  agent    far ses_far",
    `5  10:00:05  says     ${"a".repeat(399)}\\u{1b}… (10 characters more: --full)`,
    "6  10:00:06  says     end",
    // Opened, and not yet announced.
    "    ses_1b  helper  waiting  0 events  2026-12-01 10:00:00 to 2026-12-01 10:01:00 UTC",
  ]);
});

it("is whole when that is asked for", async () => {
  expect(await show(true)).toContain(`5  10:00:05  says     ${"a".repeat(399)}\\u{1b}${"b".repeat(10)}`);
});

it("is JSON in which the place of an event is its index", async () => {
  const json = (await toJsonSession(reader, tree)) as { events: { meta: { id: string } }[] };
  expect(json).toMatchObject({
    sessionId: "ses_1",
    events: { length: 7 },
    children: [
      { sessionId: "ses_1a", parentSessionId: "ses_1", events: [{ type: "message.completed" }], children: [] },
      { sessionId: "ses_1b", events: [], children: [] },
    ],
  });
  expect(json.events.map(({ meta }) => meta.id)).toEqual([0, 1, 2, 3, 4, 5, 6].map((index) => `evt_${index}`));
});
